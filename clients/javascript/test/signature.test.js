// Signatures of plans: the vectors that Rust is tested with, by WebCrypto and by noble.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CandorError, readPlan } from '../candor.js';
import { ed25519 } from '../noble.js';
import { checkSignature } from '../signature.js';

const text = (path) => readFileSync(new URL(`../../../crates/${path}`, import.meta.url), 'utf8');
const { private_key: seed, cases } = JSON.parse(text('candor/tests/signatures.json'));
const planText = (name) => text(`candor-base/tests/plans/good/${name}`);

// A browser whose WebCrypto has no Ed25519.
const without = { importKey: () => Promise.reject(new DOMException('no Ed25519', 'NotSupportedError')) };

for (const { name, plan, public_key: publicKey, signature, error } of cases) {
  test(`signature: ${name}`, async () => {
    const ready = await readPlan(planText(plan), { allowUnbounded: true });
    const checks = [
      () => readPlan(planText(plan), { signature, publicKey }),
      () => checkSignature(signature, ready, publicKey),
      () => checkSignature(signature, ready, publicKey, { subtle: without }),
    ];
    for (const check of checks) {
      if (error === null) await check();
      else await assert.rejects(check(), (found) => found instanceof CandorError && found.message.includes(error), name);
    }
  });
}

test('the signatures of the vectors are those of noble', () => {
  const { plan, signature } = cases[0];
  const { fingerprint, version } = JSON.parse(planText(plan));
  const message = new TextEncoder().encode(`candor plan signature 1\n${version}\n${fingerprint}\n`);
  assert.equal(Buffer.from(ed25519.sign(message, Buffer.from(seed, 'hex'))).toString('hex'), JSON.parse(signature).signature);
});

test('a signature needs a pinned key, and a key needs a signature', async () => {
  const [{ plan, signature, public_key: publicKey }] = cases;
  await readPlan(planText(plan), { maxEpsilon: 1, signature: JSON.parse(signature), publicKey });
  for (const options of [{ signature }, { publicKey }]) {
    await assert.rejects(readPlan(planText(plan), options), /must be given together/);
  }
});

test('a valid signature does not excuse a false guarantee', async () => {
  const forged = JSON.parse(planText(cases[0].plan));
  forged.guarantee.epsilon = '0.1';
  const { signature, public_key: publicKey } = cases[0];
  await assert.rejects(readPlan(forged, { signature, publicKey }), /states the epsilon of the record as 0.1/);
});
