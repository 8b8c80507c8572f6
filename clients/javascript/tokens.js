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

/**
 * Which channel each block answers by: it follows from the value of the token, which neither side can choose. `drawTag` is the client's.
 * The bytes for block b are SHA-256 of "candor tag b 0 value", then of "candor tag b 1 value", and so on.
 */
export async function tokenTags(plan, value, drawTag) {
  const encoder = new TextEncoder();
  const bytes = async (block, counter) => new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(`candor tag ${block} ${counter} ${value}`)));
  return Promise.all(plan.blocks.map(async (block, number) => {
    if (block.lottery.length === 1) return 0;
    const stream = (await Promise.all(Array.from({ length: 32 }, (_, counter) => bytes(number, counter)))).flatMap((part) => [...part]);
    let used = 0;
    return drawTag(block, (out) => {
      if (used + out.length > stream.length) throw new Error('the token gives no channel');
      out.set(stream.slice(used, (used += out.length)));
    });
  }));
}
