// Answers a second of the client in a browser: CANDOR_COLLECT=... node bench.mjs PLAN.json ... Each plan is answered for two seconds.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const server = spawn(process.env.CANDOR_COLLECT, ['demo', '--respondents', '1', '--listen', '127.0.0.1:0']);
const address = await new Promise((resolve) => {
  let text = '';
  server.stdout.on('data', (piece) => { text += piece; if (text.includes('have answered')) resolve(/The survey: +(\S+)\//.exec(text)[1]); });
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(address);
for (const file of process.argv.slice(2)) {
  const [attributes, rate] = await page.evaluate(async (text) => {
    const { answer, readPlan } = await import('/client.js');
    const plan = await readPlan(text, { allowUnbounded: true });
    const record = Object.fromEntries(plan.attributes.map(({ name, categories, edges }) => [name, edges.length ? edges[0] : categories[0]]));
    let [answers, started] = [0, performance.now()];
    while (performance.now() - started < 2000) {
      answer(plan, record);
      answers += 1;
    }
    return [plan.attributes.length, Math.round((1000 * answers) / (performance.now() - started))];
  }, readFileSync(file, 'utf8'));
  console.log(`${file}: ${attributes} attributes, ${rate} answers a second in the browser`);
}
await browser.close();
server.kill('SIGINT');
