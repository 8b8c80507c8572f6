// How long the slider of the trade-off takes to show its numbers, and a large file to open: printed, not judged.
// CANDOR_STUDIO: the binary; CHROMIUM: the browser; QUESTIONS: how many, such as 10,30,60. node slider.bench.mjs
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { questionnaire } from './data.mjs';

const folder = mkdtempSync(join(tmpdir(), 'studio-bench-'));
const program = spawn(process.env.CANDOR_STUDIO, [join(folder, 'studies'), '--no-browser']);
const address = await new Promise((resolve) => {
  let text = '';
  program.stdout.on('data', (piece) => {
    text += piece;
    const found = /http:\/\/\S+/.exec(text);
    if (found) resolve(found[0]);
  });
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
page.setDefaultTimeout(600_000);

const sizes = (process.env.QUESTIONS ?? '10,30,60').split(',').filter(Boolean).map(Number);

/** Milliseconds from a move of the slider to the next picture, for each of its stops, there and back. */
const moves = () => page.evaluate(async () => {
  const slider = /** @type {HTMLInputElement} */ (document.getElementById('slider'));
  const times = [];
  const stops = [...Array(12).keys()];
  for (const stop of [...stops, ...stops.reverse()]) {
    const began = performance.now();
    slider.value = String(stop);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 0)); });
    times.push(performance.now() - began);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  return times.sort((a, b) => a - b);
});

const shown = (times) => `median ${times[times.length >> 1].toFixed(0)} ms, longest ${times.at(-1).toFixed(0)} ms`;

try {
  console.log('| questions | tables | first numbers | slider, at once | slider, all computed | all computed after |\n|---|---|---|---|---|---|');
  for (const questions of sizes) {
    const file = join(folder, `q${questions}.csv`);
    writeFileSync(file, questionnaire(5000, questions - 1));
    await page.goto(address);
    await page.getByText('Drop a table here').waitFor();
    await page.locator('#file').setInputFiles(file);
    await page.getByText(`5,000 rows, ${questions} columns`).waitFor();
    await page.locator('#next:enabled').click();
    await page.locator('#role-0-public').check();
    await page.locator('#role-0-public:checked').waitFor();
    await page.locator('#next:enabled').click();
    await page.locator('#all-by-0').click();
    await page.getByRole('heading', { name: `${questions - 1} tables` }).waitFor();
    const began = Date.now();
    await page.locator('#next:enabled').click();
    await page.locator('#slider').waitFor();
    const first = (Date.now() - began) / 1000;
    const before = await moves();
    await page.waitForFunction(() => document.querySelectorAll('#as-numbers tbody tr').length >= 12);
    const all = (Date.now() - began) / 1000;
    console.log(`| ${questions} | ${questions - 1} | ${first.toFixed(1)} s | ${shown(before)} | ${shown(await moves())} | ${all.toFixed(1)} s |`);
  }
  const large = join(folder, 'large.csv');
  const [head, ...lines] = questionnaire(10_000, 19).split('\n');
  writeFileSync(large, `${head}\n${Array.from({ length: 100 }, () => lines.join('\n')).join('')}`);
  await page.goto(address);
  await page.getByText('Drop a table here').waitFor();
  // The page answers while the file is read.
  let longest = 0;
  const began = Date.now();
  await page.locator('#file').setInputFiles(large);
  const open = page.getByText('1,000,000 rows, 20 columns');
  while (!(await open.isVisible())) {
    const asked = Date.now();
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(resolve); }));
    longest = Math.max(longest, Date.now() - asked);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  console.log(`\nA million rows of 20 columns are open after ${((Date.now() - began) / 1000).toFixed(1)} s; meanwhile the page answers within ${longest} ms.`);
} finally {
  await browser.close();
  program.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
