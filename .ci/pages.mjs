// Looks at the sheets and the report in this folder, and at the survey page: see .ci/pages.
// SCREENSHOTS: a folder for pictures, if wanted.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });

/** Opens a page, gives it to `look`, and checks the rules of axe. */
async function visit(address, options, look = async () => {}) {
  const context = await browser.newContext({ bypassCSP: true, ...options });
  const page = await context.newPage();
  await page.goto(address);
  await look(page);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
  assert.deepEqual(told, [], `${address} ${JSON.stringify(options)}`);
  if (process.env.SCREENSHOTS) {
    const name = address.split('/').pop() || 'survey';
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}-${options.viewport.width}-${options.colorScheme}.png`), fullPage: true });
  }
  await context.close();
}

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

const fits = async (page) => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing is clipped or makes the page scroll sideways');

for (const file of readdirSync('.').filter((name) => name.endsWith('.html'))) {
  const address = `file://${process.cwd()}/${file}`;
  for (const viewport of [desktop, phone]) for (const colorScheme of ['light', 'dark']) await visit(address, { viewport, colorScheme }, fits);
  if (!file.startsWith('sheet')) continue;
  await visit(address, { viewport: phone, colorScheme: 'light' }, async (page) => {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height <= 2 * phone.height, `${file} is ${height} high, more than two screens`);
    for (const format of ['A4', 'Letter']) {
      const pdf = await page.pdf({ format });
      assert.deepEqual(/\/Count (\d+)/.exec(pdf.toString('latin1'))[1], '1', `${file} on ${format}`);
    }
  });
}

const server = spawn(process.env.CANDOR_COLLECT, ['demo', '--respondents', '50', '--listen', '127.0.0.1:0']);
try {
  const said = await new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (piece) => { text += piece; if (text.includes('have answered')) resolve(text); });
    server.on('exit', () => reject(new Error(text)));
  });
  const address = `${/The survey: +(\S+)\//.exec(said)[1]}/`;
  for (const viewport of [desktop, phone]) for (const colorScheme of ['light', 'dark']) {
    await visit(address, { viewport, colorScheme, locale: 'en-US' }, async (page) => {
      await page.locator('summary').first().click();
      assert.ok(await page.locator('svg.people').isVisible(), 'the sheet unfolds');
      await fits(page);
    });
  }
} finally {
  server.kill('SIGINT');
  await browser.close();
}
console.log('All pages pass.');
