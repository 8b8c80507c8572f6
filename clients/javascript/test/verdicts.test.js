// Which plans are accepted and rejected: as data for every implementation, in crates/candor-base/tests/plans.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { CandorError, answer, guaranteeOf, readPlan } from '../candor.js';

const folder = new URL('../../../crates/candor-base/tests/plans/', import.meta.url);
const text = (path) => readFileSync(new URL(path, folder), 'utf8');
const verdicts = JSON.parse(text('verdicts.json'));
const number = (epsilon) => (epsilon === null ? Infinity : Number(epsilon));

test('every file has a verdict', () => {
  assert.deepEqual(readdirSync(new URL('good', folder)).sort(), verdicts.good.toSorted());
  assert.deepEqual(readdirSync(new URL('bad', folder)).sort(), Object.keys(verdicts.bad).sort());
});

for (const file of verdicts.good) {
  test(`accepted, with the same numbers: ${file}`, async () => {
    const stated = JSON.parse(text(`good/${file}`)).guarantee;
    const plan = await readPlan(text(`good/${file}`), { allowUnbounded: true });
    const { epsilon, attributes } = guaranteeOf(plan);
    const same = (found, expected, what) => assert.ok(
      found === expected || Math.abs(found - expected) <= 1e-12 * (1 + expected), `${what}: ${found} against ${expected}`);
    same(epsilon.high, number(stated.epsilon), 'record');
    stated.attributes.forEach(({ name, marginal_epsilon: alone, conditional_epsilon: known }, at) => {
      assert.equal(attributes[at].name, name);
      same(attributes[at].marginal ?? Infinity, number(alone), `marginal of ${name}`);
      same(attributes[at].conditional.high, number(known), `conditional of ${name}`);
    });
    assert.equal(plan.guarantee.epsilon, stated.epsilon);
    if (stated.epsilon === null) await assert.rejects(readPlan(text(`good/${file}`)), /no finite epsilon/);
    else await readPlan(text(`good/${file}`), { maxEpsilon: number(stated.epsilon) });
  });
}

for (const file of Object.keys(verdicts.bad)) {
  test(`rejected: ${file}`, async () => {
    await assert.rejects(readPlan(text(`bad/${file}`), { allowUnbounded: true }), CandorError);
  });
}

test('an identity matrix that claims epsilon 0.1 is not answered', async () => {
  const forged = JSON.parse(text('bad/identity-matrix.json'));
  await assert.rejects(readPlan(forged), /states the epsilon of the record as 0.1, but it is unbounded/);
  const honest = structuredClone(forged);
  honest.guarantee.epsilon = null;
  honest.guarantee.attributes.forEach((a) => Object.assign(a, { marginal_epsilon: null, conditional_epsilon: null }));
  await assert.rejects(readPlan(honest), /no finite epsilon/);
  await assert.rejects(readPlan(honest, { maxEpsilon: 1e9 }), /no finite epsilon/);
  await assert.rejects(readPlan(honest, { maxEpsilon: 1e9, allowUnbounded: true }), /no finite epsilon/);
  const plan = await readPlan(honest, { allowUnbounded: true });
  assert.equal(Object.keys(answer(plan, { answer: 'yes', a1: '0' })).length, 2);
});

test('a plan beyond the largest epsilon or the largest cost is rejected with its figure', async () => {
  const plan = text('good/k-ary.json');
  await readPlan(plan, { maxEpsilon: 1 });
  await assert.rejects(readPlan(plan, { maxEpsilon: 0.9999 }), /record-level epsilon of 1; at most 0.9999/);
  for (const maxEpsilon of [-1, NaN, Infinity, '1', null]) await assert.rejects(readPlan(plan, { maxEpsilon }), /must be a finite/);
  await assert.rejects(readPlan(plan, { maxepsilon: 1 }), /unknown option `maxepsilon`/);
  await assert.rejects(readPlan(plan, { maxCost: 3 }), /would take up to \d+ steps, more than the 3 allowed/);
  const bomb = JSON.parse(plan);
  bomb.schema.attributes = Array.from({ length: 20 }, (_, i) => ({ name: `a${i}`, kind: 'nominal', categories: ['0', '1'] }));
  const weights = bomb.schema.attributes.map((_, i) => i + 1);
  const parts = Array.from({ length: 4000 }, (_, limit) => ({ set: { threshold: { weights, limit } }, weight: 1 }));
  const ones = weights.map(() => 1);
  const pattern = { categories: ones.map(() => 2), answer_sizes: ones, parts };
  bomb.blocks = [{ attributes: bomb.schema.attributes.map(({ name }) => name), lottery: [{ weight: 1, channel: { pattern } }] }];
  const started = performance.now();
  await assert.rejects(readPlan(bomb), /would take up to 4\d{9} steps, more than the 1073741824 allowed/);
  assert.ok(performance.now() - started < 2000);
});
