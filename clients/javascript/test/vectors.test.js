// All test vectors that the repository has: plan, record, bytes -> answers.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { drawBlocks, readPlan } from '../candor.js';

const vectors = new URL('../../../crates/candor-base/tests/vectors/', import.meta.url);
const load = (url) => JSON.parse(readFileSync(url, 'utf8'));
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** Hands out given bytes and counts them. */
function given(bytes) {
  const source = (out) => {
    assert.ok(source.used + out.length <= bytes.length, 'no more bytes');
    out.set(bytes.subarray(source.used, (source.used += out.length)));
    return out;
  };
  source.used = 0;
  return source;
}

const files = readdirSync(vectors).filter((name) => name.endsWith('.json'));
assert.ok(files.length >= 18, 'the vectors are there');
assert.ok(files.filter((name) => name.startsWith('strip')).length >= 5, 'those of strips, too');

for (const file of files) {
  test(`vectors: ${file}`, async () => {
    const { plan: path, cases } = load(new URL(file, vectors));
    const plan = await readPlan(load(new URL(path, vectors)), { allowUnbounded: true });
    assert.ok(cases.length > 0);
    for (const { record, bytes, blocks } of cases) {
      const source = given(bytesOf(bytes));
      assert.deepEqual(drawBlocks(plan, record, source), blocks);
      assert.equal(source.used, bytes.length / 2, 'exactly these bytes are read');
    }
  });
}

test('vectors can fail: another byte gives another answer somewhere', async () => {
  const { plan: path, cases } = load(new URL('k-ary.json', vectors));
  const plan = await readPlan(load(new URL(path, vectors)), { allowUnbounded: true });
  const differs = cases.some(({ record, bytes, blocks }) => {
    const flipped = Uint8Array.from([...bytesOf(bytes), ...bytesOf(bytes)], (byte) => byte ^ 0xff);
    try {
      return JSON.stringify(drawBlocks(plan, record, given(flipped))) !== JSON.stringify(blocks);
    } catch {
      return true;
    }
  });
  assert.ok(differs);
});
