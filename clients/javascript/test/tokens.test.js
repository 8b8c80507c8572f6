// Tokens: against the vectors of RFC 9497 (ristretto255-SHA512, VOPRF mode), and what is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ristretto255_oprf } from '../noble.js';
import { drawTag, readPlan } from '../candor.js';
import { drawToken, finishToken, tokenTags } from '../tokens.js';

const { voprf } = ristretto255_oprf;
const hex = (bytes) => Buffer.from(bytes).toString('hex');

test('the first vector of RFC 9497, A.1.2.1', () => {
  const { secretKey, publicKey } = voprf.deriveKeyPair(new Uint8Array(32).fill(0xa3), new TextEncoder().encode('test key'));
  assert.equal(hex(secretKey), 'e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909');
  assert.equal(hex(publicKey), 'c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e');
  const drawn = { token: '00', blind: '64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706', blinded: '863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945' };
  const reply = {
    evaluated: 'aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e',
    proof: 'ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd066d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d',
  };
  const { value } = finishToken(drawn, reply, hex(publicKey));
  assert.equal(value, 'b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7da4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c');
});

test('a token is finished under the published key, and under no other', () => {
  const [key, other] = [voprf.generateKeyPair(), voprf.generateKeyPair()];
  const drawn = drawToken();
  assert.match(drawn.token, /^[0-9a-f]{64}$/);
  assert.notEqual(drawToken().token, drawn.token);
  const { evaluated, proof } = voprf.blindEvaluate(key.secretKey, key.publicKey, Buffer.from(drawn.blinded, 'hex'));
  const reply = { evaluated: hex(evaluated), proof: hex(proof) };
  const finished = finishToken(drawn, reply, hex(key.publicKey));
  assert.deepEqual(finished, { token: drawn.token, value: hex(voprf.evaluate(key.secretKey, Buffer.from(drawn.token, 'hex'))) });
  assert.throws(() => finishToken(drawn, reply, hex(other.publicKey)), /proof/);
  assert.throws(() => finishToken(drawn, { ...reply, proof: reply.proof.replace(/^../, '00') }, hex(key.publicKey)));
  assert.throws(() => finishToken(drawn, { ...reply, evaluated: 'nothing' }, hex(key.publicKey)), /hexadecimal/);
});

test('the channels follow from the token as the server computes them', async () => {
  const plan = await readPlan(readFileSync(new URL('../../../crates/candor-base/tests/plans/good/lotteries.json', import.meta.url), 'utf8'), { allowUnbounded: true });
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => tokenTags(plan, `value ${n}`, drawTag)));
  // The same line as in crates/candor-collect/src/tokens.rs.
  assert.equal(all.map((tags) => tags.join(',')).join(' '), '0,1 1,0 0,0 0,1 1,0 1,1 0,1 1,1 1,1 1,0 0,0 1,0 1,1 1,0 0,1 0,0 1,1 0,1 0,0 1,1');
});
