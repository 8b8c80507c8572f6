// The respondent's side of candor: reads a plan and answers under it, as docs/sampling.md says.
// No dependencies; browsers and Node 20 or later. The truth goes in, the response comes out, nothing else leaves.

/** What is wrong with a plan or a record. Names no true value. */
export class CandorError extends Error {}

export const wrong = (message) => { throw new CandorError(message); };
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// ---- Plans

/** The canonical form (RFC 8785) of the JSON that plans are made of. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') {
    const rounded = typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) <= 2 ** 53);
    if (rounded) wrong('the plan holds a number that is no integer up to 2^53; larger ones are strings of digits');
    return JSON.stringify(value);
  }
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** The fingerprint of a plan, computed from its schema, blocks, version and prior. */
export async function fingerprint(plan) {
  const { blocks, schema, version } = plan;
  const contract = { blocks, schema, version };
  const prior = plan.guarantee?.for_prior;
  if (version >= 2 && prior) contract.for_prior = { attribute: prior.attribute, prior: prior.prior };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(contract)));
  return `sha256:${hex(new Uint8Array(digest))}`;
}

/** Reads a plan (text, or parsed JSON): checks format, version, fingerprint and that every channel can be drawn from. */
export async function readPlan(source) {
  const plan = typeof source === 'string' ? parse(source) : structuredClone(source);
  if (plan?.format !== 'candor plan') wrong('not a candor plan');
  if (plan.version !== 1 && plan.version !== 2) wrong(`version ${plan.version} of the plan is unknown; this client reads 1 and 2`);
  const found = await fingerprint(plan);
  if (plan.fingerprint !== found) wrong(`the plan was changed: it states ${plan.fingerprint}, but its contents have ${found}`);
  const attributes = plan.schema.attributes.map((attribute) => ({ ...attribute, edges: attribute.edges?.map(Number) ?? [], grid: attribute.grid?.map(Number) ?? [] }));
  const position = (name) => {
    const at = attributes.findIndex((attribute) => attribute.name === name);
    return at < 0 ? wrong(`a block names the attribute "${name}", which the schema has not`) : at;
  };
  const blocks = plan.blocks.map((block, number) => {
    const members = block.attributes.map(position);
    const sizes = members.map((at) => attributes[at].categories.length);
    const lottery = block.lottery.map(({ weight, channel }) => ({ weight: integer(weight), channel: prepare(channel, sizes, number) }));
    if (!lottery.length) wrong(`block ${number} has no channel`);
    return { members, lottery };
  });
  const homes = attributes.map((_, at) => blocks.filter(({ members }) => members.includes(at)).length);
  const lost = attributes.find((attribute, at) => homes[at] !== (attribute.public ? 0 : 1));
  if (lost) wrong(`"${lost.name}" must be in one block, or in none if it is public`);
  const ready = { fingerprint: found, guarantee: plan.guarantee, attributes, blocks, conditions: conditions(attributes) };
  return Object.freeze({ ...ready, columns: columns(ready) });
}

/** Who is asked what, what others depend on first: the question, what it depends on, and for which of its categories it is asked. */
function conditions(attributes) {
  const all = attributes.map(({ asked_if: condition, categories, name }, at) => {
    if (!condition) return null;
    const other = attributes.findIndex((attribute) => attribute.name === condition.attribute);
    const asks = condition.categories.map((label) => attributes[other]?.categories.indexOf(label) ?? -1);
    if (asks.includes(-1) || categories.at(-1) !== '(not asked)') wrong(`"${name}" cannot be asked as the plan says`);
    return { at, other, asks, depth: 0 };
  });
  for (const rule of all) {
    for (let next = rule; next; next = all[next.other]) if (rule.depth++ > all.length) wrong('a question depends on itself');
  }
  return all.filter(Boolean).sort((a, b) => a.depth - b.depth);
}

/** Whether each question is asked of somebody who answered this so far; a page hides the others. What is sent does not tell. */
export function asked(plan, record) {
  const flags = plan.attributes.map(() => true);
  for (const { at, other, asks } of plan.conditions) {
    const { name, categories } = plan.attributes[other];
    const code = record[name] === undefined ? -1 : codeOf(plan.attributes[other], `${record[name] ?? ''}`);
    flags[at] = asks.includes(flags[other] ? code : categories.length - 1);
  }
  return flags;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return wrong('the plan is not JSON');
  }
}

/** An integer of a plan: a number, or digits where a number would be rounded. */
function integer(value) {
  return /^\d+$/.test(value) ? BigInt(value) : wrong(`the plan holds ${JSON.stringify(value)} where a whole number belongs`);
}

const sum = (numbers) => numbers.reduce((total, n) => total + n, 0n);

function prepare(channel, sizes, block) {
  const [kind] = Object.keys(channel);
  const content = channel[kind];
  const fit = (categories, own = sizes) => String(categories) === String(own) || wrong(`block ${block}: categories differ from the schema's`);
  if (kind === 'matrix') {
    fit(content.categories);
    const total = content.total ? integer(content.total) : 1n << BigInt(content.bits);
    const columns = content.columns.map((column) => column.map(integer));
    if (columns.length !== sizes.reduce((a, b) => a * b, 1)) wrong(`block ${block}: not one column for each input`);
    if (columns.some((column) => column.length !== content.outputs.length || sum(column) !== total)) wrong(`block ${block}: a column has the wrong sum`);
    return { kind, sizes, total, columns, outputs: content.outputs };
  }
  if (kind === 'pattern') {
    fit(content.categories);
    const answers = content.answer_sizes;
    if (answers.length !== sizes.length || answers.some((q, i) => !(q >= 1 && q <= sizes[i]))) wrong(`block ${block}: answer sizes that cannot be`);
    const parts = content.parts.map(({ set, weight }) => ({ set: prepareSet(set, sizes, block), weight: integer(weight) }));
    const resampling = (content.resampling ?? sizes.map(() => 0)).map(integer);
    if (!parts.length || resampling.length !== sizes.length) wrong(`block ${block}: parts or resampling are missing`);
    return { kind, sizes, answers, parts, resampling, ways: sizes.map((a, i) => [choose(a - 1, answers[i] - 1), choose(a - 1, answers[i])]) };
  }
  if (kind === 'strip') {
    const { attributes, categories, cells } = content;
    fit(categories, attributes.map((at) => sizes[at]));
    const order = stripOrder(categories);
    const box = Array.isArray(cells);
    if (box ? cells.length !== categories.length || cells.some((q, i) => !(q >= 1 && q < categories[i])) : !(cells >= 1 && cells < order.length)) wrong(`block ${block}: a strip of ${cells} of ${order.length} cells`);
    const strip = box ? order.map((_, cell) => cell).filter((cell) => digits(cell, categories).every((x, i) => x < cells[i])) : order.slice(0, cells);
    return { kind, attributes, sizes: categories, strip, total: order.length, weights: [integer(content.hit), integer(content.all)] };
  }
  return wrong(`block ${block}: "${kind}" is a channel that this client does not know`);
}

function choose(n, k) {
  let ways = k < 0 || k > n ? 0n : 1n;
  for (let i = 1; i <= Math.min(k, n - k); i++) ways = (ways * BigInt(n - i + 1)) / BigInt(i);
  return ways;
}

/** The cells of a table, first attribute slowest, in the order of a strip: by the sum of x L/a mod L, then by number. */
function stripOrder(categories) {
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const l = categories.reduce((a, b) => (a / gcd(a, b)) * b, 1);
  const total = categories.reduce((a, b) => a * b, 1);
  if (total > 65536) wrong(`a strip over ${total} cells; at most 65536`);
  const key = (cell) => digits(cell, categories).reduce((at, x, i) => (at + x * (l / categories[i])) % l, 0);
  return Array.from({ length: total }, (_, cell) => [key(cell), cell]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, cell]) => cell);
}

/** The categories of a cell, first attribute slowest. */
function digits(cell, sizes) {
  const codes = [];
  for (let i = sizes.length - 1; i >= 0; i--) {
    codes[i] = cell % sizes[i];
    cell = Math.floor(cell / sizes[i]);
  }
  return codes;
}

/** The names of a plan's response columns, with what stands in them, in order. */
function columns({ attributes, blocks }) {
  const found = [];
  attributes.forEach(({ name, public: open, categories }, attribute) => {
    if (open) found.push({ name, attribute, labels: categories });
    blocks.forEach(({ members, lottery }, block) => {
      const place = members.indexOf(attribute);
      const matrix = lottery[0].channel.outputs;
      if (place < 0 || (matrix && place > 0)) return;
      if (matrix) found.push({ name: members.map((at) => attributes[at].name).join('*'), block, place, labels: matrix });
      else found.push({ name, block, place, labels: categories, set: lottery.some(({ channel }) => channel.answers?.[place] > 1) });
    });
  });
  const numbered = (name, take) => blocks.map((block, at) => at).filter((at) => take(blocks[at]))
    .forEach((block, n) => found.push({ name: n ? `${name}_${n + 1}` : name, block, [name]: true }));
  numbered('candor_tag', ({ lottery }) => lottery.length > 1);
  numbered('candor_cells', ({ lottery }) => lottery.some(({ channel }) => channel.kind === 'strip'));
  return found;
}

// ---- Sets of patterns: automata that read the attributes in order and are told of each whether it misses

function prepareSet(set, sizes, block) {
  const k = sizes.length;
  const [kind, content] = typeof set === 'string' ? [set] : Object.entries(set)[0];
  if (kind === 'all') return { start: 0, step: () => 0, ends: () => true };
  if (kind === 'only' || kind === 'hits') {
    const listed = new Set(content);
    const fits = kind === 'only' ? (i, miss) => miss === listed.has(i) : (i, miss) => !(miss && listed.has(i));
    return { start: 0, step: (state, i, miss) => (fits(i, miss) ? 0 : null), ends: () => true };
  }
  if (kind === 'bitmap' && k <= 20) {
    const bit = (p) => (parseInt(content.slice(2 * (p >> 3), 2 * (p >> 3) + 2), 16) >> (p & 7)) & 1;
    return { start: 0, step: (p, i, miss) => (miss ? p | (1 << i) : p), ends: (p) => bit(p) === 1 };
  }
  if (kind === 'threshold') return threshold(content.weights.map(integer), integer(content.limit));
  return wrong(`block ${block}: "${kind}" is a set of patterns that this client does not know`);
}

/** The state is what may still miss: the largest sum of the attributes to come that fits, where those are listed. */
function threshold(weights, limit) {
  const k = weights.length;
  const sums = [];
  for (let i = k, list = [0n]; i >= Math.max(0, k - 12); i--) {
    if (i < k) list = [...new Set(list.concat(list.map((sum) => sum + weights[i])))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    sums[i] = list;
  }
  const after = weights.map((_, i) => sum(weights.slice(i + 1)));
  const least = (left, i) => {
    if (!sums[i + 1]) return left < after[i] ? left : after[i];
    const list = sums[i + 1];
    let [low, high] = [0, list.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= left) low = middle;
      else high = middle;
    }
    return list[low];
  };
  const step = (left, i, miss) => {
    const rest = miss ? left - weights[i] : left;
    return rest < 0n ? null : least(rest, i);
  };
  return { start: limit, step, ends: () => true, weights, limit };
}

/** The number of ways to answer the attributes from `i` on so that the pattern is in the set. */
function completions(set, ways, i = 0, state = set.start) {
  if (state === null) return 0n;
  if (i === ways.length) return set.ends(state) ? 1n : 0n;
  set.known ??= [];
  const known = (set.known[i] ??= new Map());
  let count = known.get(state);
  if (count === undefined) {
    const of = (miss) => (ways[i][+miss] ? ways[i][+miss] * completions(set, ways, i + 1, set.step(state, i, miss)) : 0n);
    known.set(state, (count = of(false) + of(true)));
  }
  return count;
}

/** Whether a threshold over more than 20 attributes holds at least one in 4,096 of all answers: then it is drawn by rejection. */
function isCommon(set, sizes, answers) {
  if (!set.weights || sizes.length <= 20) return false;
  return (set.common ??= share(set.weights, set.limit, sizes.map((a, i) => answers[i] / a)) >= 1 / 4096);
}

/** The share of all answers in a threshold: sums of two halves of the attributes, side by side. */
function share(weights, limit, hits) {
  const half = (from, to) => {
    let chances = new Map([[0n, 1]]);
    for (let i = from; i < to; i++) {
      const next = new Map();
      const add = (total, p) => total <= limit && next.set(total, (next.get(total) ?? 0) + p);
      for (const [total, p] of chances) {
        add(total, p * hits[i]);
        add(total + weights[i], p * (1 - hits[i]));
      }
      if (next.size > 1 << 18) wrong('a threshold of the plan is too large for this client');
      chances = next;
    }
    return [...chances].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  };
  const middle = weights.length >> 1;
  const high = half(middle, weights.length);
  let [within, inside, at] = [0, 0, 0];
  for (const [total, p] of half(0, middle).reverse()) {
    while (at < high.length && high[at][0] + total <= limit) within += high[at++][1];
    inside += p * within;
  }
  return inside;
}

// ---- Randomness. A source is a function that fills an array with fresh bytes.

const fresh = (bytes) => crypto.getRandomValues(bytes);

/** A uniform integer below n. */
function below(n, source) {
  if (n <= 0x100000000n) return BigInt(small(Number(n), source));
  const top = (n - 1n).toString(16);
  const bits = 4 * top.length - (Math.clz32(parseInt(top[0], 16)) - 28);
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    source(bytes);
    bytes[0] &= 0xff >> ((8 - (bits % 8)) % 8);
    const drawn = BigInt(`0x${hex(bytes)}`);
    if (drawn < n) return drawn;
  }
}

/** The same for n up to 2^32. */
function small(n, source) {
  const bits = 32 - Math.clz32(n - 1);
  if (n === 1) return 0;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    source(bytes);
    let drawn = bytes[0] & (0xff >> ((8 - (bits % 8)) % 8));
    for (let i = 1; i < bytes.length; i++) drawn = drawn * 256 + bytes[i];
    if (drawn < n) return drawn;
  }
}

function cumulated(weights, ball) {
  let at = 0;
  for (let under = weights[0]; under <= ball; under += weights[++at]);
  return at;
}

const chooseByWeight = (weights, source) => (weights.length === 1 ? 0 : cumulated(weights, below(sum(weights), source)));

// ---- Drawing

function draw(channel, truth, source) {
  if (channel.kind === 'pattern') return drawPattern(channel, truth, source);
  if (channel.kind === 'strip') return [drawStrip(channel, channel.attributes.map((at) => truth[at]), source)];
  const input = truth.reduce((cell, x, i) => cell * channel.sizes[i] + x, 0);
  return [cumulated(channel.columns[input], below(channel.total, source))];
}

function drawPattern({ sizes, answers, parts, resampling, ways }, truth, source) {
  const { set } = parts[chooseByWeight(parts.map((part) => part.weight), source)];
  const misses = isCommon(set, sizes, answers) ? untilInside(set, sizes, answers, source) : byRank(set, ways, source);
  const drawn = truth.map((x, i) => fill(sizes[i], answers[i], x, misses[i], source));
  resampling.forEach((weight, i) => {
    if (weight && below(1n << 64n, source) < weight) drawn[i] = anything(sizes[i], answers[i], source);
  });
  return drawn;
}

function byRank(set, ways, source) {
  const total = completions(set, ways) || wrong('a set of the plan holds no pattern');
  let rank = below(total, source);
  let state = set.start;
  return ways.map(([hit, miss], i) => {
    const after = set.step(state, i, false);
    const hits = hit * completions(set, ways, i + 1, after);
    const missed = rank >= hits;
    state = missed ? set.step(state, i, true) : after;
    rank = missed ? (rank - hits) / miss : rank / hit;
    return missed;
  });
}

function untilInside(set, sizes, answers, source) {
  for (;;) {
    const misses = sizes.map((a, i) => small(a, source) >= answers[i]);
    if (misses.reduce((state, miss, i) => (state === null ? null : set.step(state, i, miss)), set.start) !== null) return misses;
  }
}

const ascending = (codes) => codes.sort((a, b) => a - b);
const anything = (a, q, source) => (q === 1 ? small(a, source) : ascending(subset(a, q, source)));

function fill(a, q, truth, miss, source) {
  const other = (code) => (code < truth ? code : code + 1);
  if (q === 1) return miss ? other(small(a - 1, source)) : truth;
  const others = subset(a - 1, miss ? q : q - 1, source).map(other);
  return ascending(miss ? others : [...others, truth]);
}

/** A random subset (Floyd's method). */
function subset(n, size, source) {
  const taken = new Set();
  for (let j = n - size; j < n; j++) {
    const t = small(j + 1, source);
    taken.add(taken.has(t) ? j : t);
  }
  return [...taken];
}

function drawStrip({ sizes, strip, total, weights }, truth, source) {
  const cell = chooseByWeight(weights, source) === 0 ? strip[small(strip.length, source)] : small(total, source);
  const relabelled = digits(cell, sizes).map((label, i) => {
    const others = Array.from({ length: sizes[i] - 1 }, (_, n) => (n < label ? n : n + 1));
    for (let j = sizes[i] - 2; j >= 1; j--) {
      const t = small(j + 1, source);
      [others[j], others[t]] = [others[t], others[j]];
    }
    return [...others.slice(0, truth[i]), label, ...others.slice(truth[i])];
  });
  const inside = new Set(strip);
  const moved = (c) => digits(c, sizes).reduce((at, x, i) => at * sizes[i] + relabelled[i][x], 0);
  return Array.from({ length: total }, (_, c) => c).filter((c) => inside.has(moved(c)));
}

/** Which channel of its lottery a block answers by. */
export const drawTag = ({ lottery }, source) => chooseByWeight(lottery.map((ticket) => ticket.weight), source);

/** The answers of a block, by one channel of its lottery; `truth` is one category number for each of its attributes. */
export function drawAnswers({ lottery }, tag, truth, source) {
  return { tag: lottery.length > 1 ? tag : null, answers: draw(lottery[tag].channel, truth, source) };
}

/** Draws the answers of every block: `record` is one category number for each attribute of the schema. */
export function drawBlocks(plan, record, source = fresh) {
  return plan.blocks.map((block) => drawAnswers(block, drawTag(block, source), block.members.map((at) => record[at]), source));
}

// ---- Records and responses

/** The category numbers of a record given by attribute names. Numbers are binned where the attribute has edges, and rounded at random to a neighbouring point where it has a grid. The answer to a question that is not asked is empty. */
export function codes(plan, record, source = fresh) {
  const found = plan.attributes.map((attribute) => {
    const parts = attribute.name in record ? [attribute.name] : attribute.name.split('*');
    const names = parts.some((part) => part === '') ? [attribute.name] : parts;
    const value = names.map((name) => (name in record ? `${record[name] ?? ''}` : wrong(`the answer to "${name}" is missing`))).join('*');
    const code = codeOf(attribute, value, source);
    return code < 0 ? wrong(`the answer to "${attribute.name}" is none of its categories`) : code;
  });
  for (const { at, other, asks } of plan.conditions) {
    const { name, categories } = plan.attributes[at];
    const [isAsked, last] = [asks.includes(found[other]), categories.length - 1];
    if (!isAsked && categories[found[at]] === '') found[at] = last;
    if (isAsked === (found[at] === last)) wrong(isAsked ? `the answer to "${name}" is missing, which is asked here` : `the answer to "${name}" must be empty: it is not asked here`);
  }
  return found;
}

function codeOf({ edges, grid, categories, asked_if: condition }, value, source) {
  const text = value.trim();
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (edges.length && Number.isFinite(number)) return edges.filter((edge) => edge <= number).length;
  if (grid.length && number >= grid[0] && number <= grid.at(-1)) return dithered(grid, number, source);
  const code = value === '' && condition && !categories.includes('') ? categories.length - 1 : categories.indexOf(value);
  return code < (edges.length ? edges.length + 1 : grid.length) ? -1 : code;
}

/** One of the two points of a grid around a number, such that its expectation is the number. */
function dithered(grid, number, source) {
  const low = grid.filter((point) => point <= number).length - 1;
  if (grid[low] === number) return low;
  const chance = (number / 2 - grid[low] / 2) / (grid[low + 1] / 2 - grid[low] / 2);
  return chance > 0 && below(1n << 53n, source) < BigInt(Math.floor(chance * 2 ** 53)) ? low + 1 : low;
}

/** The response of a record whose answers are drawn: what is sent, in the order of its columns. */
export function written(plan, record, blocks) {
  const response = { candor_fingerprint: plan.fingerprint };
  for (const { name, attribute, block, place, labels, set, candor_tag: tag, candor_cells: cells } of plan.columns) {
    const { tag: drawn, answers } = blocks[block] ?? {};
    const channel = block === undefined ? null : plan.blocks[block].lottery[drawn ?? 0].channel;
    const strip = channel?.kind === 'strip';
    const label = (code) => labels[code];
    if (attribute !== undefined) response[name] = labels[record[attribute]];
    else if (tag) response[name] = drawn;
    else if (cells) response[name] = strip ? answers[0].map((cell) => cellLabel(plan, block, channel, cell)) : null;
    else if (strip) response[name] = null;
    else response[name] = set ? [answers[place]].flat().map(label) : label(answers[place]);
  }
  return response;
}

function cellLabel(plan, block, { attributes, sizes }, cell) {
  const labels = (i) => plan.attributes[plan.blocks[block].members[attributes[i]]].categories;
  return digits(cell, sizes).map((code, i) => labels(i)[code]).join('*');
}

/** Answers under a plan: the record stays here, the response may be sent. Each call draws anew and adds its epsilon. */
export function answer(plan, record, source = fresh) {
  const numbers = codes(plan, record, source);
  return written(plan, numbers, drawBlocks(plan, numbers, source));
}

// ---- Asked again

/** Answers once: keeps the first response (never the truth) and a random id in `storage`, and gives the same ever after. */
export function answerOnce(plan, record, { storage = globalThis.localStorage, scope = '' } = {}) {
  const key = `candor:${plan.fingerprint}:${scope}`;
  const kept = storage.getItem(key);
  if (kept) return JSON.parse(kept);
  const made = { id: hex(fresh(new Uint8Array(16))), response: answer(plan, record) };
  storage.setItem(key, JSON.stringify(made));
  return made;
}
