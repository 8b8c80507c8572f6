// Plans that the command designs: the client computes what they state, and rejects them once they are forged.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CandorError, fingerprint, guaranteeOf, readPlan } from '../candor.js';

const built = ['debug', 'release'].map((profile) => fileURLToPath(new URL(`../../../target/${profile}/candor`, import.meta.url)));
const command = [process.env.CANDOR, ...built].find((path) => path && existsSync(path));
const skip = command ? false : 'the command is not built: cargo build --bin candor';

/** Numbers from a seed (a linear congruential generator). */
function seeded(state) {
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const draw = seeded(2026);
const sizes = (from, to, most = 5) => Array.from({ length: from + draw(to - from + 1) }, () => 2 + draw(most - 1)).join();
const epsilon = () => String(0.3 + draw(40) / 10);

/** Options of `candor design`, for several random schemas each. */
const DESIGNS = [
  ...[1, 2, 3].map(() => ['independent', '--categories', sizes(1, 6), '--epsilon', epsilon()]),
  ...[1, 2].map(() => ['minimax', '--categories', sizes(1, 4, 12), '--likelihood-ratio', '2.5']),
  ...[1, 2].map(() => ['joint', '--categories', sizes(2, 6), '--epsilon', epsilon()]),
  ...[1, 2, 3].map(() => ['optimal', '--categories', sizes(2, 9), '--epsilon', epsilon()]),
  ...[1, 2].map(() => ['optimal', '--categories', sizes(13, 16), '--epsilon', epsilon()]),
  ...[1, 2].map(() => ['optimal', '--categories', sizes(21, 26), '--epsilon', epsilon()]),
  ['optimal', '--categories', sizes(32, 36), '--epsilon', '6'],
  ['optimal', '--categories', '2,3,4,5', '--attribute-epsilon', '1,0.5,0.7,2'],
  ['two-attribute', '--categories', '3,4', '--attribute-epsilon', '1,0.5'],
  ...[1, 2, 3].map(() => ['workload', '--categories', sizes(2, 5), '--tables', 'pairs', '--epsilon', epsilon()]),
  ...[1, 2].map(() => ['sampling', '--categories', sizes(2, 5), '--tables', 'pairs', '--epsilon', epsilon()]),
  ['l-diversity', '--categories', '6,4', '--l', '3,2'],
  ['warner', '--categories', '2', '--p', '0.8'],
  ['frapp', '--categories', '5', '--lambda', '3'],
  ['front', '--categories', '3', '--map-privacy', '0.2', '--prior', '0.5,0.25,0.25'],
];

function designed([method, ...options]) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-'));
  try {
    execFileSync(command, ['design', '--method', method, ...options, '-o', join(folder, 'plan.json')], { stdio: 'pipe' });
    return JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An integer as plans have it. */
const written = (n) => (n <= 2n ** 53n ? Number(n) : String(n));
const number = (text) => (text === null ? Infinity : Number(text));

/** Makes a channel reveal more. */
const MUTATIONS = {
  pattern: ({ parts }) => {
    const random = parts.filter(({ set }) => set === 'all');
    if (parts.length > random.length) random.forEach((part) => { part.weight = written(BigInt(part.weight) / 1000n || 1n); });
    return parts.length > random.length && random.length > 0;
  },
  matrix: ({ columns }) => {
    const column = columns.find((entries) => entries.filter((n) => Number(n) > 0).length > 1);
    const places = column?.map((_, at) => at).filter((at) => Number(column[at]) > 0);
    const largest = places?.reduce((a, b) => (BigInt(column[a]) >= BigInt(column[b]) ? a : b));
    const other = places?.find((at) => at !== largest && columns.some((entries) => entries !== column && Number(entries[at]) > 0));
    if (other === undefined) return false;
    const total = BigInt(column[largest]) + BigInt(column[other]);
    [column[largest], column[other]] = [written(total), 0];
    return true;
  },
  strip: (strip) => {
    strip.all = written(BigInt(strip.all) / 1000n || 1n);
    return true;
  },
};

test('designed plans are accepted with the numbers that they state, and rejected once forged', { skip }, async () => {
  let [forged, lowered] = [0, 0];
  for (const design of DESIGNS) {
    const what = design.join(' ');
    const plan = designed(design);
    const actual = guaranteeOf(await readPlan(plan, { allowUnbounded: true }));
    const same = (found, stated) => assert.ok(
      found === stated || Math.abs(found - stated) <= 1e-12 * (1 + stated), `${what}: ${found} for ${stated}`);
    same(actual.epsilon.high, number(plan.guarantee.epsilon));
    plan.guarantee.attributes.forEach(({ marginal_epsilon: alone, conditional_epsilon: known }, at) => {
      same(actual.attributes[at].marginal ?? Infinity, number(alone));
      same(actual.attributes[at].conditional.high, number(known));
    });
    // One number stated a little smaller.
    const numbers = [plan.guarantee, ...plan.guarantee.attributes].flatMap((of) => Object.keys(of).filter((key) => /epsilon/.test(key)).map((key) => [of, key]));
    for (const [of, key] of numbers) {
      const stated = of[key];
      if (stated === null ? key === 'marginal_epsilon' : number(stated) < 1e-6) continue;
      of[key] = stated === null ? '9' : (number(stated) * (1 - 1e-7)).toFixed(12);
      await assert.rejects(readPlan(plan, { allowUnbounded: true }), CandorError, `${what}: ${key}`);
      of[key] = stated;
      lowered += 1;
    }
    // One channel that reveals more, with a matching fingerprint.
    for (const [block, { lottery }] of plan.blocks.entries()) {
      for (const tag of lottery.keys()) {
        const copy = structuredClone(plan);
        const [[kind, content]] = Object.entries(copy.blocks[block].lottery[tag].channel);
        if (plan.guarantee.epsilon === null || !MUTATIONS[kind](content)) continue;
        await assert.rejects(readPlan(copy), /the plan was changed|mistyped/, what);
        copy.fingerprint = await fingerprint(copy);
        await assert.rejects(readPlan(copy, { allowUnbounded: true }), CandorError, `${what}: block ${block}, channel ${tag}`);
        forged += 1;
      }
    }
  }
  assert.ok(forged > 30 && lowered > 300, `${forged} forged channels, ${lowered} lowered numbers`);
});
