// Answers that repeat: one fixed draw for each truth of each block, made from a key, for surveys that ask again and must follow changes.
// What that means for a respondent, and what it costs: README.md beside this file.
import { codes, drawAnswers, drawTag, hex, written, wrong } from './candor.js';

const text = (words) => new TextEncoder().encode(`${words}\0`);
const big = (value, bytes) => Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) % 256);
const fingerprintBytes = (plan) => plan.fingerprint.slice(7).match(/../g).map((byte) => parseInt(byte, 16));

async function hmac(key, purpose, plan, block, truth, more = []) {
  const message = [...text(purpose), ...fingerprintBytes(plan), ...big(block, 4), ...big(truth.length, 2), ...truth.flatMap((code) => big(code, 2)), ...more];
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new Uint8Array(message)));
}

/** A key for `answerFromMemo`. It cannot be taken out of the browser, but can be stored in IndexedDB; keep it like the truth. */
export const memoKey = () => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']);

/** Byte block `j` of the stream of a block and its truth. */
export const memoBytes = (key, plan, block, truth, j) => hmac(key, 'candor memo 1', plan, block, truth, big(j, 4));

/** Draws with the bytes of a stream; where they run out, with more of the same. */
async function withStream(key, plan, block, truth, drawn) {
  for (let blocks = 2, bytes = []; ; blocks *= 2) {
    for (let j = bytes.length / 32; j < blocks; j++) bytes.push(...(await memoBytes(key, plan, block, truth, j)));
    let used = 0;
    const short = {};
    const source = (out) => {
      if (used + out.length > bytes.length) throw short;
      out.set(bytes.slice(used, (used += out.length)));
    };
    try {
      return drawn(source);
    } catch (error) {
      if (error !== short) throw error;
    }
  }
}

/**
 * Answers with one fixed draw for each truth of each block, made from a key: asked again with the same truth, the same response.
 * `ledger` (a plain object: keep it) counts the truths used; beyond `cap`, in epsilons by attribute over all plans, it refuses.
 */
export async function answerFromMemo(plan, record, { key, ledger = {}, cap = Infinity }) {
  const numbers = codes(plan, record);
  const truths = plan.blocks.map(({ members }) => members.map((at) => numbers[at]));
  await enter(plan, truths, key, ledger, cap);
  const blocks = [];
  for (const [number, block] of plan.blocks.entries()) {
    const tag = await withStream(key, plan, number, [], (source) => drawTag(block, source));
    blocks.push(await withStream(key, plan, number, truths[number], (source) => drawAnswers(block, tag, truths[number], source)));
  }
  return written(plan, numbers, blocks);
}

/** What a ledger adds up to: for each attribute's name the epsilon of all truths used, over all plans. */
export function spent(ledger) {
  // Fields are defined, not assigned: an attribute may be named `__proto__`.
  const total = new Map();
  for (const { blocks } of Object.values(ledger)) {
    for (const { used, epsilon } of blocks) {
      for (const [name, each] of Object.entries(epsilon)) {
        total.set(name, (total.get(name) ?? 0) + used.length * (each ?? Infinity));
      }
    }
  }
  return Object.fromEntries(total);
}

async function enter(plan, truths, key, ledger, cap) {
  // What `readPlan` computed from the channels, whatever the plan or an old ledger states.
  const used = ledger[plan.fingerprint]?.blocks.map((block) => [...block.used]) ?? plan.blocks.map(() => []);
  const epsilon = ({ spends }) => Object.fromEntries([...spends].map(([name, e]) => [name, e === Infinity ? null : e]));
  const page = { blocks: plan.blocks.map((block, at) => ({ used: used[at], epsilon: epsilon(block) })) };
  for (const [block, truth] of truths.entries()) {
    const mark = hex((await hmac(key, 'candor ledger 1', plan, block, truth)).slice(0, 8));
    if (!page.blocks[block].used.includes(mark)) page.blocks[block].used.push(mark);
  }
  const all = Object.entries(spent({ ...ledger, [plan.fingerprint]: page }));
  const beyond = all.find(([, sum]) => sum > cap);
  if (beyond) wrong(`answers about "${beyond[0]}" would add up to epsilon ${beyond[1]}, above the cap of ${cap}`);
  ledger[plan.fingerprint] = page;
}
