// A disk that is full: answers until the server refuses one, makes room, answers once more, and counts what is stored. As root, on Linux.
// node benches/full.mjs CANDOR_COLLECT PLAN FOLDER, with FOLDER a small file system of its own
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { answer, readPlan } from '../clients/javascript/candor.js';

const [collect, planFile, folder] = process.argv.slice(2);
const run = (...words) => execFileSync(collect, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
run('new', `${folder}/survey`, '--plan', planFile);
const server = spawn(collect, ['serve', `${folder}/survey`, '--listen', '127.0.0.1:0']);
const address = await new Promise((resolve) => {
  let text = '';
  server.stdout.on('data', (piece) => { text += piece; const found = /Survey: +(\S+)\//.exec(text); if (found) resolve(found[1]); });
});
const plan = await readPlan(readFileSync(planFile, 'utf8'), { allowUnbounded: true });
const record = Object.fromEntries(plan.attributes.map(({ name, categories }) => [name, categories[0]]));
let sent = 0;
async function send() {
  const id = (sent++).toString(16).padStart(32, '0');
  const reply = await fetch(`${address}/responses`, { method: 'POST', body: JSON.stringify({ id, response: answer(plan, record) }) });
  return { status: reply.status, detail: (await reply.json()).detail };
}
let [stored, reply] = [0, await send()];
for (; reply.status === 201; reply = await send()) stored += 1;
console.log(`full after ${stored} responses: ${reply.status} ${reply.detail}`);
execFileSync('mount', ['-o', 'remount,size=40m', folder]);
for (reply = await send(); reply.status !== 201; reply = await send());
stored += 1;
await new Promise((resolve) => { server.on('exit', resolve); server.kill('SIGINT'); });
const found = run('export', `${folder}/survey`, '-o', '-').trim().split('\n').length;
console.log(`with room again: ${stored} acknowledged, ${found} stored`);
process.exit(found === stored ? 0 : 1);
