// What the client computes of a plan, against the definitions on full distributions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guaranteeOf, readPlan } from '../candor.js';
import { honestFile, nothing, planFile } from './made.js';

// ---- The definitions: every answer of every record, in floats

const product = (lists) => lists.reduce((all, list) => all.flatMap((some) => list.map((one) => [...some, one])), [[]]);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const subsets = (n, size) => product(range(n).map(() => [false, true])).map((flags) => range(n).filter((i) => flags[i]))
  .filter((some) => some.length === size);
const orders = (n) => (n === 0 ? [[]] : orders(n - 1).flatMap((some) => range(n).map((at) => [...some.slice(0, at), n - 1, ...some.slice(at)])));

/** Whether a pattern (one flag for each attribute) is in a set of a plan. */
function contains(set, misses) {
  if (set === 'all') return true;
  if (set.only) return misses.every((miss, i) => miss === set.only.includes(i));
  if (set.hits) return set.hits.every((i) => !misses[i]);
  if (set.threshold) return misses.reduce((sum, miss, i) => sum + (miss ? set.threshold.weights[i] : 0), 0) <= set.threshold.limit;
  const pattern = misses.reduce((p, miss, i) => p + (miss ? 2 ** i : 0), 0);
  return (parseInt(set.bitmap.slice(2 * (pattern >> 3), 2 * (pattern >> 3) + 2), 16) >> (pattern & 7)) & 1;
}

/** The probability of every answer of a channel, in a fixed order, given the codes of the block. */
function distribution(channel, codes) {
  if (channel.matrix) {
    const { categories, columns } = channel.matrix;
    const input = codes.reduce((cell, code, i) => cell * categories[i] + code, 0);
    const total = columns[0].reduce((a, b) => a + b);
    return columns[input].map((entry) => entry / total);
  }
  if (channel.strip) return ofStrip(channel.strip, codes);
  const { categories, answer_sizes: sizes, parts, resampling } = channel.pattern;
  const answers = product(categories.map((a, i) => subsets(a, sizes[i])));
  const misses = answers.map((answer) => answer.map((some, i) => !some.includes(codes[i])));
  let masses = answers.map(() => 0);
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  for (const part of parts) {
    const inside = misses.map((pattern) => contains(part.set, pattern));
    const count = inside.filter(Boolean).length;
    masses = masses.map((mass, at) => mass + (inside[at] ? part.weight / weight / count : 0));
  }
  (resampling ?? []).forEach((p, i) => {
    const share = Number(p) / 2 ** 64;
    const rest = (answer) => JSON.stringify(answer.map((some, at) => (at === i ? 0 : some)));
    const sums = new Map();
    answers.forEach((answer, at) => sums.set(rest(answer), (sums.get(rest(answer)) ?? 0) + masses[at]));
    const choices = subsets(categories[i], sizes[i]).length;
    masses = masses.map((mass, at) => (1 - share) * mass + (share * sums.get(rest(answers[at]))) / choices);
  });
  return masses;
}

function ofStrip({ attributes, categories, cells, hit, all }, codes) {
  const table = product(categories.map(range));
  const key = (cell) => (cell.reduce((sum, x, i) => sum + x / categories[i], 0) + 1e-9) % 1;
  const number = (cell) => cell.reduce((at, x, i) => at * categories[i] + x, 0);
  const ordered = table.map((cell) => ({ cell, key: Math.round(key(cell) * 1e6) })).sort((a, b) => a.key - b.key || number(a.cell) - number(b.cell));
  const inside = Array.isArray(cells) ? table.filter((cell) => cell.every((x, i) => x < cells[i])) : ordered.slice(0, cells).map(({ cell }) => cell);
  const relabelled = product(categories.map(orders)).map((maps) => inside.map((cell) => number(cell.map((x, i) => maps[i][x]))).sort((a, b) => a - b).join());
  const truth = String(number(attributes.map((place) => codes[place])));
  const more = (hit / all) * (table.length / inside.length);
  const likelihoods = [...new Set(relabelled)].sort().map((some) => 1 + (some.split(',').includes(truth) ? more : 0));
  const total = likelihoods.reduce((a, b) => a + b);
  return likelihoods.map((one) => one / total);
}

/** The largest log-ratio of a block's response under two lists of codes. */
function lossOf(block, one, other) {
  return Math.max(...block.lottery.map(({ channel }) => {
    const [here, there] = [distribution(channel, one), distribution(channel, other)];
    return Math.max(...here.map((p, z) => (p > 1e-300 ? Math.log(p / there[z]) : -Infinity)));
  }));
}

const sources = (name) => name.split('*');

/** All possible records of a schema, as codes. */
function possible(attributes) {
  return product(attributes.map(({ categories }) => range(categories.length))).filter((record) => {
    const columns = new Map();
    return attributes.every(({ name, categories, asked_if: condition }, at) => {
      const label = categories[record[at]];
      if (condition) {
        const other = attributes.findIndex((attribute) => attribute.name === condition.attribute);
        const asks = condition.categories.includes(attributes[other].categories[record[other]]);
        if (asks === (label === '(not asked)')) return false;
      }
      return sources(name).every((source, i) => {
        const value = sources(name).length === 1 ? label : label.split('*')[i];
        if (columns.has(source) && columns.get(source) !== value) return false;
        columns.set(source, value);
        return true;
      });
    });
  });
}

/** The attributes that are tied to one, by the definition. */
function component(attributes, at) {
  const tied = (a, b) => [[a, b], [b, a]].some(([x, y]) => x.asked_if?.attribute === y.name)
    || sources(a.name).some((source) => sources(b.name).includes(source));
  const open = attributes.map((attribute) => !!attribute.public);
  const found = new Set([at]);
  for (const one of found) attributes.forEach((other, i) => { if (!open[i] && !open[one] && tied(attributes[one], other)) found.add(i); });
  return found;
}

/** Conditional epsilons of all attributes, by the definition. */
function conditionals(attributes, blocks) {
  const records = possible(attributes);
  const members = blocks.map((block) => block.attributes.map((name) => attributes.findIndex((a) => a.name === name)));
  const known = new Map();
  const between = (one, other) => blocks.reduce((sum, block, b) => {
    const codes = [one, other].map((record) => members[b].map((at) => record[at]));
    const key = JSON.stringify([b, codes]);
    if (!known.has(key)) known.set(key, lossOf(block, ...codes));
    return sum + known.get(key);
  }, 0);
  return attributes.map((_, at) => {
    const group = component(attributes, at);
    const agree = (one, other) => one.every((code, i) => group.has(i) || code === other[i]);
    let worst = 0;
    for (const one of records) for (const other of records) if (one !== other && agree(one, other)) worst = Math.max(worst, between(one, other));
    return worst;
  });
}

// ---- Random plans

/** Numbers from a seed (mulberry32). */
function seeded(seed) {
  return (n) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

function randomPattern(sizes, draw) {
  const k = sizes.length;
  const list = () => range(k).filter(() => draw(2));
  const sets = [
    () => 'all',
    () => ({ only: list() }),
    () => ({ hits: list() }),
    () => ({ threshold: { weights: range(k).map(() => draw(4)), limit: draw(6) } }),
    () => ({ bitmap: range(Math.ceil(2 ** k / 8)).map((_, at) => (at ? draw(256) : 1 + draw(Math.min(256, 2 ** (2 ** k)) - 1)).toString(16).padStart(2, '0')).join('') }),
  ];
  const parts = range(1 + draw(3)).map(() => ({ set: sets[draw(5)](), weight: 1 + draw(9) }));
  if (draw(4)) parts.push({ set: 'all', weight: 1 + draw(9) });
  const channel = { categories: sizes, answer_sizes: sizes.map((a) => (draw(3) ? 1 : 1 + draw(a - 1))), parts };
  if (!draw(3)) channel.resampling = sizes.map(() => (draw(2) ? String(BigInt(draw(1000)) << 53n) : 0));
  return { pattern: channel };
}

function randomMatrix(sizes, draw) {
  const inputs = sizes.reduce((a, b) => a * b, 1);
  const outputs = range(2 + draw(2)).map((z) => `z${z}`);
  const columns = range(inputs).map(() => {
    const cuts = outputs.slice(1).map(() => 1 + draw(62)).sort((a, b) => a - b);
    return [...cuts, 64].map((cut, i) => cut - (i ? cuts[i - 1] : 0));
  });
  return { matrix: { categories: sizes, outputs, bits: 6, columns } };
}

function randomStrip(sizes, draw) {
  const attributes = range(sizes.length).filter((i) => draw(2) || i === 0);
  const categories = attributes.map((i) => sizes[i]);
  const total = categories.reduce((a, b) => a * b, 1);
  const cells = draw(2) ? 1 + draw(total - 1) : categories.map((a) => 1 + draw(a - 1));
  return { strip: { attributes, categories, cells, hit: 1 + draw(9), all: 1 + draw(9) } };
}

function randomBlocks(attributes, draw) {
  const blocks = [];
  for (let rest = attributes.filter((a) => !a.public); rest.length;) {
    const members = rest.splice(0, 1 + draw(Math.min(3, rest.length)));
    const sizes = members.map(({ categories }) => categories.length);
    const kinds = draw(3) ? [randomPattern, draw(3) ? randomPattern : randomStrip] : [randomMatrix];
    const lottery = kinds.slice(0, 1 + draw(kinds.length)).map((kind) => ({ weight: 1 + draw(5), channel: kind(sizes, draw) }));
    blocks.push({ attributes: members.map(({ name }) => name), lottery });
  }
  return blocks;
}

const labels = (n) => range(n).map((i) => `${'abcd'[i]}`);

/** Chains and trees of conditions, some under a public parent. */
function askedSchema(draw) {
  const attributes = [{ name: 'q0', kind: 'nominal', ...(draw(3) ? {} : { public: true }), categories: labels(2 + draw(2)) }];
  for (let i = 1; i < 3 + draw(2); i++) {
    const parent = attributes[draw(attributes.length)];
    const condition = draw(4) && { attribute: parent.name, categories: parent.categories.filter((_, at) => !draw(2) || at === 0).slice(0, 2) };
    const categories = labels(condition ? 1 + draw(2) : 2);
    attributes.push({ name: `q${i}`, kind: 'nominal', ...(condition && { asked_if: condition }), categories: condition ? [...categories, '(not asked)'] : categories });
  }
  return attributes;
}

function crossedSchema(draw) {
  const crossed = product([labels(2), labels(2)]).map((pair) => pair.join('*'));
  const attributes = [{ name: 'x', kind: 'nominal', categories: labels(2) }, { name: 'x*y', kind: 'nominal', categories: crossed }];
  if (draw(2)) attributes.push({ name: 'y*z', kind: 'nominal', categories: crossed });
  if (draw(2)) attributes.push({ name: 'w', kind: 'nominal', categories: labels(2 + draw(2)) });
  return attributes;
}

const plainSchema = (draw) => range(1 + draw(3)).map((i) => ({ name: `q${i}`, kind: 'nominal', categories: labels(2 + draw(3)) }));

const hasVersion2 = (attributes, blocks) => attributes.some((a) => a.asked_if) || JSON.stringify(blocks).includes('"strip":');

for (const [name, schema, count] of [['plain', plainSchema, 150], ['asked', askedSchema, 150], ['crossed', crossedSchema, 60]]) {
  test(`conditional epsilons follow the definition: ${name} schemas`, async () => {
    const draw = seeded(30 + count + name.length);
    let [tried, all, exact, unbounded] = [0, 0, 0, 0];
    while (tried < count) {
      const attributes = schema(draw);
      const blocks = randomBlocks(attributes, draw);
      const version = hasVersion2(attributes, blocks) ? 2 : 1;
      let file;
      try {
        file = await honestFile(attributes, blocks, version);
      } catch (error) {
        // Sets without a pattern, two columns of one name, and the like: no plan.
        assert.equal(error.constructor.name, 'CandorError', error.stack);
        continue;
      }
      tried += 1;
      const computed = guaranteeOf(await readPlan(file, { allowUnbounded: true })).attributes;
      const defined = conditionals(attributes, blocks).filter((_, at) => !attributes[at].public);
      for (const [at, { conditional: { low, high } }] of computed.entries()) {
        const what = `${JSON.stringify({ attributes, blocks })}: ${low} to ${high} for ${defined[at]}`;
        const near = defined[at] === Infinity ? 0 : 1e-9 * (1 + defined[at]);
        assert.ok(low <= defined[at] + near, what);
        assert.ok(high >= defined[at] - near, what);
        all += 1;
        exact += low === high || high - low <= near;
        unbounded += defined[at] === Infinity;
        // A plan that states less is rejected wherever the loss is known.
        if (!(low > 1e-6)) continue;
        const forged = structuredClone(file);
        forged.guarantee.attributes[at].conditional_epsilon = (Math.min(low, 50) * (1 - 1e-6)).toFixed(12);
        await assert.rejects(readPlan(forged, { allowUnbounded: true }), /states the conditional epsilon/, what);
      }
    }
    assert.ok(exact > 0.9 * all && unbounded < 0.7 * all, `of ${all} exact ${exact}, unbounded ${unbounded}`);
  });
}

test('the follow-up questions of one answer count together', async () => {
  const kept = (categories) => ({ pattern: { categories: [categories], answer_sizes: [1], parts: [{ set: { only: [] }, weight: 1 }, { set: 'all', weight: 1 }] } });
  const follow = range(3).map((i) => ({ name: `f${i}`, kind: 'nominal', asked_if: { attribute: 'Drug use', categories: ['yes'] }, categories: ['few', 'many', '(not asked)'] }));
  const attributes = [{ name: 'Drug use', kind: 'nominal', categories: ['no', 'yes'] }, ...follow];
  const blocks = attributes.map(({ name, categories }) => ({ attributes: [name], lottery: [{ weight: 1, channel: kept(categories.length) }] }));
  const file = await honestFile(attributes, blocks, 2);
  const together = Math.log(3) + 3 * Math.log(4);
  for (const { conditional_epsilon: e } of file.guarantee.attributes) assert.ok(Math.abs(Number(e) - together) < 1e-9);
  // Each question by itself: what the plan must not state.
  const alone = structuredClone(file);
  alone.guarantee.attributes[0].conditional_epsilon = String(Math.log(3).toFixed(12));
  await assert.rejects(readPlan(alone), /the conditional epsilon of "Drug use" as 1.09.*, but it is 5.25/);
});

test('of many follow-up questions both bounds are safe', async () => {
  const kept = (categories) => ({ pattern: { categories: [categories], answer_sizes: [1], parts: [{ set: { only: [] }, weight: 1 }, { set: 'all', weight: 1 }] } });
  const follow = range(14).map((i) => ({ name: `f${i}`, kind: 'nominal', asked_if: { attribute: 'a', categories: ['yes'] }, categories: ['few', 'many', '(not asked)'] }));
  const attributes = [{ name: 'a', kind: 'nominal', categories: ['no', 'yes'] }, ...follow];
  const blocks = attributes.map(({ name, categories }) => ({ attributes: [name], lottery: [{ weight: 1, channel: kept(categories.length) }] }));
  const plan = await readPlan(await planFile(attributes, blocks, 2, nothing(attributes)), { allowUnbounded: true });
  const { epsilon, attributes: [{ conditional: { low, high } }] } = guaranteeOf(plan);
  const truth = Math.log(3) + 14 * Math.log(4);
  assert.ok(low > 0.4 * truth && low <= truth + 1e-9 && high >= truth - 1e-9 && high <= epsilon.high + 1e-9, `${low} ${high} ${truth}`);
});

test('labels that exclude a category exclude nothing', async () => {
  const kept = (categories) => ({ pattern: { categories: [categories], answer_sizes: [1], parts: [{ set: { only: [] }, weight: 1 }, { set: 'all', weight: 1 }] } });
  for (const labels of [['N*m', 'N*f', 'Y*m', 'Y*f'], ['no*m', 'no*f', 'Yes*m', 'Yes*f'], ['no*m', 'no*f']]) {
    const attributes = [['drug', ['no', 'yes']], ['drug*sex', labels]].map(([name, categories]) => ({ name, kind: 'nominal', categories }));
    const blocks = attributes.map(({ name, categories }) => ({ attributes: [name], lottery: [{ weight: 1, channel: kept(categories.length) }] }));
    const file = await honestFile(attributes, blocks);
    const { epsilon } = file.guarantee;
    assert.ok(Number(epsilon) > 1);
    for (const { conditional_epsilon: known } of file.guarantee.attributes) assert.equal(known, epsilon);
    // What states that nothing is told is read as what the whole response may tell.
    file.guarantee.attributes.forEach((attribute) => { attribute.conditional_epsilon = '0'; });
    const { guarantee } = await readPlan(file);
    for (const { conditional_epsilon: known } of guarantee.attributes) assert.ok(Number(known) >= Number(epsilon));
  }
});

test('labels of cells that would fill memory are refused before they are made', async () => {
  const attributes = range(16).map((i) => ({ name: `x${i}`, kind: 'nominal', categories: ['a'.repeat(4000), 'b'.repeat(4000)] }));
  const strip = { attributes: range(16), categories: range(16).map(() => 2), cells: 5, hit: 1, all: 1 };
  const blocks = [{ attributes: attributes.map(({ name }) => name), lottery: [{ weight: 1, channel: { strip } }] }];
  await assert.rejects(planFile(attributes, blocks, 2, nothing(attributes)).then((file) => readPlan(file)), /too long labels/);
});
