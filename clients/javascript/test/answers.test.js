// Records in, responses out; asked again; keyed memo.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CandorError, answer, answerOnce, asked, codes, readPlan } from '../candor.js';
import { made } from './made.js';
import { answerFromMemo, memoBytes, memoKey, spent } from '../memo.js';

const load = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const good = (name) => readPlan(load(`../../../crates/candor-base/tests/plans/good/${name}.json`), { allowUnbounded: true });

const kept = (categories, hit = 1, all = 1) => ({ pattern: { categories, answer_sizes: categories.map(() => 1), parts: [{ set: { only: [] }, weight: hit }, { set: 'all', weight: all }] } });
const attribute = (name, categories, more = {}) => ({ name, kind: 'nominal', ...more, categories });
const alone = (attributes, channel) => ({ attributes, lottery: [{ weight: 1, channel }] });

test('a response has the columns of the plan, in order, and its fingerprint', async () => {
  const plan = await good('public');
  const response = answer(plan, { region: 'south', answer: 'yes' });
  assert.deepEqual(Object.keys(response), ['candor_fingerprint', 'region', 'answer']);
  assert.equal(response.candor_fingerprint, plan.fingerprint);
  assert.equal(response.region, 'south');
  const lotteries = await good('lotteries');
  const record = { a1: 3, a2: 2, a3: 1, a4: 4, a5: 0 };
  assert.deepEqual(Object.keys(answer(lotteries, record)).slice(1), ['a1', 'a2', 'a3', 'a4', 'a5', 'candor_tag', 'candor_tag_2']);
  const sets = answer(await good('sets'), { a1: '8', a2: '0', a3: '299', a4: '1' });
  assert.deepEqual([sets.a1.length, typeof sets.a2, sets.a3.length, sets.a4], [4, 'string', 150, ['0', '1', '2']]);
  assert.deepEqual(Object.keys(answer(await good('crossed-matrix'), { a1: 1, a2: 2 })), ['candor_fingerprint', 'a1*a2']);
});

test('numbers are binned as the command does, labels are exact', async () => {
  const age = attribute('Age', ['young', 'middle', 'old', ''], { kind: 'ordinal', edges: ['18', '65'] });
  const plan = await made([age, attribute('a*b', ['x*y', 'x*z'])], [alone(['Age'], kept([4])), alone(['a*b'], kept([2]))]);
  const code = (value) => codes(plan, { Age: value, a: 'x', b: 'z' });
  assert.deepEqual([17.9, '18', ' 64.99 ', 65, '1e3', null, '-3', '.5'].map((value) => code(value)[0]), [0, 1, 1, 2, 2, 3, 0, 0]);
  assert.equal(code(1)[1], 1);
  for (const bad of ['young', '0x10', 'Infinity', '1,5']) {
    assert.throws(() => code(bad), (error) => error instanceof CandorError && !error.message.includes(bad));
  }
  assert.throws(() => codes(plan, { Age: 3, a: 'x' }), /"b" is missing/);
});

test('whole numbers may be written with a point, as for the command', async () => {
  const plan = await made([attribute('x', ['1', '2', '2.5', '3.0', ''])], [alone(['x'], kept([5]))]);
  const found = ['1', '1.0', '2.00', 2.5, '3.0', ''].map((x) => codes(plan, { x })[0]);
  assert.deepEqual(found, [0, 0, 1, 2, 3, 4]);
  for (const bad of ['3', '4.0', '1.5', '1.', 'x1.0']) assert.throws(() => codes(plan, { x: bad }), CandorError);
});

test('numbers between points of a grid are rounded at random, as the vectors say', async () => {
  const onGrid = (grid) => made([attribute('x', grid.map((_, at) => `point ${at}`).concat(''), { grid })], [alone(['x'], kept([grid.length + 1]))], 2);
  for (const { grid, value, bytes, code } of load('./dither.json')) {
    const left = bytes.match(/../g)?.map((byte) => parseInt(byte, 16)) ?? [];
    const drawn = codes(await onGrid(grid), { x: value }, (out) => out.set(left.splice(0, out.length)));
    assert.deepEqual([drawn, left], [[code], []], `${value} ${bytes}`);
  }
  const plan = await onGrid(['0', '25', '100']);
  assert.deepEqual(codes(plan, { x: null }), [3]);
  for (const bad of ['-1', '100.5', 'few', 'point 1']) assert.throws(() => codes(plan, { x: bad }), CandorError);
  const n = 20000;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += [0, 25, 100][codes(plan, { x: 70 })[0]];
  // The standard deviation of one is 36.7; five of the mean are 1.3: a false alarm below one in a million.
  assert.ok(Math.abs(sum / n - 70) < 1.3, `${sum / n}`);
});

test('questions that are not asked are empty, as the vectors say', async () => {
  const { attributes, records } = load('./asked.json');
  const blocks = attributes.filter((a) => !a.public).map(({ name, categories }) => alone([name], kept([categories.length])));
  const plan = await made(attributes, blocks, 2);
  for (const { record, codes: expected, problem } of records) {
    if (expected) assert.deepEqual(codes(plan, record), expected);
    else assert.throws(() => codes(plan, record), (error) => error instanceof CandorError && error.message.includes(`"${problem}"`));
    // What a page shows is what a record may answer.
    if (expected) asked(plan, record).forEach((flag, at) => assert.equal(flag, !attributes[at].asked_if || expected[at] !== attributes[at].categories.length - 1));
  }
  assert.deepEqual(asked(plan, {}), [true, false, false, true]);
  const answered = records.filter(({ codes: expected }) => expected).map(({ record }) => Object.keys(answer(plan, record)).join());
  assert.equal(new Set(answered).size, 1, 'the form of a response does not tell');
  const circle = attributes.map((a) => (a.name === 'Smokes' ? { ...a, asked_if: { attribute: 'Quit', categories: ['no'] }, categories: [...a.categories, '(not asked)'] } : a));
  await assert.rejects(made(circle, circle.filter((a) => !a.public).map(({ name, categories }) => alone([name], kept([categories.length]))), 2), /depends on itself/);
});

test('a strip answers with cells: hit and miss by hand', async () => {
  const attributes = [attribute('a', ['p', 'q']), attribute('b', ['x', 'y', 'z']), attribute('c', ['0', '1'])];
  const strip = { strip: { attributes: [0, 1], categories: [2, 3], cells: 2, hit: 1, all: 1 } };
  const lottery = [{ weight: 1, channel: kept([2, 3, 2]) }, { weight: 1, channel: strip }];
  const plan = await made(attributes, [{ attributes: ['a', 'b', 'c'], lottery }], 2);
  // L = 6, keys 3a + 2b mod 6 = 0 2 4 3 5 1: strip order 0, 5, 1, 3, 2, 4, so B = {0, 5}.
  const bytes = [1, 0, 1, /* u = B[1] = 5 = (1, 2) */ 0 /* others of b: [0, 1], swap places 1 and 0 */];
  const source = (out) => out.set(bytes.splice(0, out.length));
  const response = answer(plan, { a: 'p', b: 'y', c: '1' }, source);
  // a: p -> 1, q -> 0; b: y -> 2, x -> 1, z -> 0. In B are (q, z) -> (0, 0) and (p, y) -> (1, 2).
  assert.deepEqual(response, { candor_fingerprint: plan.fingerprint, a: null, b: null, c: null, candor_tag: 1, candor_cells: ['p*y', 'q*z'] });
  assert.equal(bytes.length, 0);
  const pattern = answer(plan, { a: 'p', b: 'y', c: '1' }, (out) => out.fill(0));
  assert.deepEqual([pattern.a, pattern.b, pattern.c, pattern.candor_tag, pattern.candor_cells], ['p', 'y', '1', 0, null]);
});

test('answers follow their channel', async () => {
  const plan = await made([attribute('a', ['0', '1', '2'])], [alone(['a'], kept([3]))]);
  const n = 30000;
  const counts = [0, 0, 0];
  for (let i = 0; i < n; i++) counts[answer(plan, { a: '1' }).a] += 1;
  // Shares 1/6, 4/6, 1/6; five standard deviations and more: a false alarm below one in a million.
  [1 / 6, 4 / 6, 1 / 6].forEach((p, x) => assert.ok(Math.abs(counts[x] - n * p) < 5.2 * Math.sqrt(n * p * (1 - p)), `${counts}`));
});

test('asked again, the same is sent, and no truth is kept', async () => {
  const plan = await made([attribute('a', Array.from({ length: 200 }, (_, i) => `secret ${i}`))], [alone(['a'], kept([200], 1, 1e6))]);
  const kept_ = new Map();
  const storage = { getItem: (key) => kept_.get(key) ?? null, setItem: (key, value) => kept_.set(key, value) };
  const first = answerOnce(plan, { a: 'secret 7' }, { storage });
  assert.deepEqual(answerOnce(plan, { a: 'secret 9' }, { storage }), first);
  assert.match(first.id, /^[0-9a-f]{32}$/);
  assert.equal([...kept_.values()].join(), JSON.stringify(first));
  assert.notEqual(answerOnce(plan, { a: 'secret 7' }, { storage, scope: 'another invitation' }).id, first.id);
});

test('bytes of the memo are those of the vectors', async () => {
  const vectors = load('memo.json');
  assert.equal(vectors.length, 16);
  for (const { key, fingerprint, block, truth, first_bytes } of vectors) {
    const raw = Uint8Array.from(key.match(/../g), (byte) => parseInt(byte, 16));
    const imported = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const bytes = await memoBytes(imported, { fingerprint: `sha256:${fingerprint}` }, block, truth, 0);
    assert.equal(Buffer.from(bytes).toString('hex'), first_bytes);
  }
});

test('the memo repeats itself, keeps its tag, counts truths and refuses beyond the cap', async () => {
  const plan = await good('lotteries');
  const key = await memoKey();
  const ledger = {};
  const record = { a1: 3, a2: 2, a3: 1, a4: 4, a5: 0 };
  const first = await answerFromMemo(plan, record, { key, ledger });
  assert.deepEqual(await answerFromMemo(plan, record, { key, ledger }), first);
  const changed = await answerFromMemo(plan, { ...record, a1: 0 }, { key, ledger });
  assert.equal(changed.a5, first.a5, 'another block is not drawn anew');
  assert.equal(changed.candor_tag_2, first.candor_tag_2, 'the tag does not tell the change');
  assert.ok(Math.abs(spent(ledger).a5 - 2) < 1e-9);
  assert.equal(spent(ledger).a1, Infinity);
  assert.ok(Math.abs(spent(ledger).a2 - 2 * 3.433987204486) < 1e-9);
  assert.ok(!JSON.stringify(ledger).includes('truth'));
  // One answer at each of two truths: ln 4 each.
  const own = await made([attribute('a', ['0', '1', '2'])], [alone(['a'], kept([3]))]);
  const small = {};
  for (const a of [0, 1, 0, 1]) await answerFromMemo(own, { a }, { key, ledger: small, cap: 3 });
  await assert.rejects(answerFromMemo(own, { a: 2 }, { key, ledger: small, cap: 3 }), /"a" would add up to epsilon 4.15.*, above the cap of 3/);
  assert.ok(Math.abs(spent(small).a - 2 * Math.log(4)) < 1e-9);
});

test('the memo counts what the channels give, whatever an old ledger says', async () => {
  const [plan, key, ledger] = [await good('k-ary'), await memoKey(), {}];
  await answerFromMemo(plan, { a1: 1 }, { key, ledger });
  ledger[plan.fingerprint].blocks[0].epsilon.a1 = 0.001;
  await answerFromMemo(plan, { a1: 2 }, { key, ledger });
  assert.ok(Math.abs(spent(ledger).a1 - 2) < 1e-9);
});

test('in the memo, attributes that are tied count the answers of each other', async () => {
  const attributes = [attribute('Drug', ['no', 'yes']), attribute('Often', ['few', 'many', '(not asked)'], { asked_if: { attribute: 'Drug', categories: ['yes'] } })];
  const plan = await made(attributes, [alone(['Drug'], kept([2])), alone(['Often'], kept([3]))], 2);
  const [key, ledger] = [await memoKey(), {}];
  for (const Often of ['few', 'many']) await answerFromMemo(plan, { Drug: 'yes', Often }, { key, ledger });
  // One answer about the drug (ln 3) and two about how often (ln 4 each) tell about the drug.
  for (const name of ['Drug', 'Often']) assert.ok(Math.abs(spent(ledger)[name] - Math.log(3) - 2 * Math.log(4)) < 1e-9);
});

test('attributes may have the names of what objects inherit', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const attributes = names.map((name) => attribute(name, ['no', 'yes', 'constructor']));
  attributes.push(attribute('valueOf', ['few', '(not asked)'], { asked_if: { attribute: '__proto__', categories: ['yes'] } }));
  const plan = await made(attributes, attributes.map(({ name, categories }) => alone([name], kept([categories.length]))), 2);
  const record = JSON.parse('{"__proto__":"yes","constructor":"no","toString":"constructor","hasOwnProperty":"no","valueOf":"few"}');
  assert.deepEqual(codes(plan, record), [1, 0, 2, 0, 0]);
  assert.deepEqual(asked(plan, record), [true, true, true, true, true]);
  assert.deepEqual(asked(plan, {}), [true, true, true, true, false]);
  for (const name of names) {
    const without = Object.fromEntries(Object.entries(record).filter(([other]) => other !== name));
    assert.throws(() => codes(plan, without), new RegExp(`"${name}" is missing`));
  }
  const response = answer(plan, record);
  assert.deepEqual(Object.keys(response), ['candor_fingerprint', ...names, 'valueOf']);
  for (const name of names) assert.ok(['no', 'yes', 'constructor'].includes(response[name]), name);
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(response))), Object.keys(response));
  const [key, ledger] = [await memoKey(), {}];
  const first = await answerFromMemo(plan, record, { key, ledger });
  assert.deepEqual(await answerFromMemo(plan, record, { key, ledger: JSON.parse(JSON.stringify(ledger)) }), first);
  assert.deepEqual(Object.keys(spent(ledger)).sort(), [...names, 'valueOf'].sort());
  assert.ok(Object.values(spent(ledger)).every((epsilon) => epsilon > 1 && epsilon < 4));
  await assert.rejects(answerFromMemo(plan, record, { key, cap: 1 }), /"__proto__" would add up/);
});
