// Tokens that nobody can link to an invitation: a verifiable oblivious pseudorandom function (RFC 9497, ristretto255 and SHA-512).
// Only surveys that give out tokens load this, and noble.js with it.
import { ristretto255_oprf } from './noble.js';

const { voprf } = ristretto255_oprf;
const digits = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const bytesOf = (text) => {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new Error('not hexadecimal digits');
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
};

/** A random token, and what is sent of it: `blinded`, which does not tell it. Keep all of it until the reply is there. */
export function drawToken() {
  const token = crypto.getRandomValues(new Uint8Array(32));
  const { blind, blinded } = voprf.blind(token);
  return { token: digits(token), blind: digits(blind), blinded: digits(blinded) };
}

/** The token and its value, from the reply. Throws if that was not made with the published key: then keep nothing. */
export function finishToken({ token, blind, blinded }, { evaluated, proof }, key) {
  const value = voprf.finalize(bytesOf(token), bytesOf(blind), bytesOf(evaluated), bytesOf(blinded), bytesOf(key), bytesOf(proof));
  return { token, value: digits(value) };
}
