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

/** Sorts a table and switches it, as somebody with a mouse would: what is shown follows from what was shown before. */
async function sortAndSwitch(page) {
  const first = page.locator('table.estimates').first();
  const labels = () => first.locator('tbody th').allTextContents();
  const numbers = async () => (await first.locator('tbody b').allTextContents()).map((text) => Number.parseFloat(text.replace(',', '.').replace('≤', '')));
  const [before, heads] = [await labels(), first.locator('thead th')];
  const falling = [...(await numbers())].sort((a, b) => b - a);
  await heads.nth(1).locator('button').click();
  assert.deepEqual(await numbers(), falling, 'the largest first');
  assert.equal(await heads.nth(1).getAttribute('aria-sort'), 'descending');
  await heads.nth(1).locator('button').click();
  assert.deepEqual(await numbers(), falling.reverse(), 'then the smallest');
  assert.deepEqual([...(await labels())].sort(), [...before].sort(), 'all rows are there');
  await heads.nth(0).locator('button').focus();
  await page.keyboard.press('Enter');
  assert.equal(await heads.nth(0).getAttribute('aria-sort'), 'descending', 'by the keyboard, too');

  const cross = page.locator('table.cross').first();
  const cells = () => cross.locator('tbody tr').allInnerTexts();
  const ways = page.locator('.switch').first().getByRole('button');
  const [rows, caption] = [await cells(), await cross.locator('caption').innerText()];
  await ways.nth(2).click();
  assert.equal(await ways.nth(2).getAttribute('aria-pressed'), 'true');
  assert.notEqual(await cross.locator('caption').innerText(), caption, 'the caption says what is shown');
  const people = (text) => Number(text.replace(/[.,\s]/g, ''));
  const counted = await cross.locator('tbody tr:not(.total) b').allInnerTexts();
  const all = people(await cross.locator('tr.total td').last().innerText());
  const sum = counted.map(people).filter(Number.isFinite).reduce((a, b) => a + b, 0);
  assert.ok(sum > 0 && sum <= 1.1 * all, `${sum} people of ${all}; a dash or a limit stands where an estimate is imprecise`);
  await ways.nth(1).click();
  const shares = await cross.locator('tbody tr:not(.total) b').allInnerTexts();
  const whole = shares.map((text) => Number.parseFloat(text.replace(',', '.'))).filter(Number.isFinite).reduce((a, b) => a + b, 0);
  assert.ok(whole > 0 && whole <= 110, `${whole} percent of everybody`);
  await ways.nth(0).click();
  assert.deepEqual([await cells(), await cross.locator('caption').innerText()], [rows, caption], 'and back');
}

/** Without scripts everything is there, and nothing that would do nothing. */
async function withoutScripts(address) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  assert.equal(await page.locator('button').count(), 0);
  assert.ok((await page.locator('table.cross tbody td').count()) > 10 && (await page.locator('table.estimates svg').count()) > 5);
  await context.close();
}

for (const file of readdirSync('.').filter((name) => name.startsWith('report'))) {
  const address = `file://${process.cwd()}/${file}`;
  await visit(address, { viewport: desktop, colorScheme: 'light' }, sortAndSwitch);
  await withoutScripts(address);
  // On paper no table is wider than the page.
  await visit(address, { viewport: { width: 688, height: 900 }, colorScheme: 'light' }, async (page) => {
    await page.emulateMedia({ media: 'print' });
    const wide = await page.evaluate(() => [...document.querySelectorAll('table')].filter((table) => table.offsetWidth > innerWidth).map((table) => table.caption.innerText));
    assert.deepEqual(wide, [], 'tables that do not fit A4');
    await page.emulateMedia({ media: 'screen' });
  });
}

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

/** Runs the survey service with these words while `look` looks at it; `ready` ends what it says once it serves. */
async function serving(words, ready, look) {
  const server = spawn(process.env.CANDOR_COLLECT, [...words, '--listen', '127.0.0.1:0']);
  try {
    const said = await new Promise((resolve, reject) => {
      let text = '';
      const hear = (piece) => { text += piece; if (ready.test(text)) resolve(text); };
      server.stdout.on('data', hear);
      server.stderr.on('data', hear);
      server.on('exit', () => reject(new Error(text)));
    });
    await look(said);
  } finally {
    server.kill('SIGINT');
  }
}

const unfolds = async (page) => {
  const folded = page.locator('details').first();
  await folded.locator('summary').first().click();
  assert.notEqual(await folded.getAttribute('open'), null, 'what is behind the promise unfolds');
  await fits(page);
};

/** What a dashboard shows can be published: percentages from 0 to 100, dots on their bars, nothing drawn that is too imprecise. */
async function holdsItsIntervals(page) {
  const text = await page.locator('main').innerText();
  assert.doesNotMatch(text, /NaN|Infinity|undefined|null/);
  for (const [, percent] of text.matchAll(/(-?[\d.]+)\s?%/g)) assert.ok(percent >= 0 && percent <= 100, `${percent}%`);
  for (const row of await page.locator('[role=row]:has(svg)').all()) {
    const [name, value] = await Promise.all([row.locator('.name').innerText(), row.locator('.value').innerText()]);
    const ends = await row.locator('line.interval').evaluateAll((lines) => lines.map((line) => ['x1', 'x2'].map((end) => Number.parseFloat(line.getAttribute(end)))));
    const dots = await row.locator('circle').evaluateAll((circles) => circles.map((circle) => Number.parseFloat(circle.getAttribute('cx'))));
    if (value === '–') assert.deepEqual([ends, dots], [[], []], `${name} is too imprecise to be drawn`);
    for (const dot of dots) assert.ok(ends.length === 1 && ends[0][0] <= dot && dot <= ends[0][1], `${name}: ${dot} in ${ends}`);
  }
}

/** Estimates of every grade, some of them below 0 or above 1, in place of those that the server gives. */
function invented(data, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (const { cells } of data.estimates.tables) for (const cell of cells) {
    const ends = [random(), random()].sort((a, b) => a - b);
    const share = ends[0] + random() * (ends[1] - ends[0]);
    const reliability = ['shown', 'rough', 'under', 'hidden'][Math.floor(4 * random())];
    const isShown = reliability === 'shown' || reliability === 'rough';
    Object.assign(cell, { estimate: 3 * random() - 1, low: ends[0], high: ends[1], reliability, shown_estimate: isShown ? share : null });
  }
  return data;
}

/** Draws the dashboard of random estimates, and one with a share beside its interval, which must be noticed. */
async function inventedResults(address) {
  for (let seed = 1; seed <= 12; seed++) {
    const context = await browser.newContext({ viewport: desktop });
    const page = await context.newPage();
    const beside = seed === 12;
    await page.route('**/results.json*', async (route) => {
      const data = invented(await (await route.fetch()).json(), seed);
      if (beside) Object.assign(data.estimates.tables[0].cells[0], { low: 0.5, high: 0.6, shown_estimate: 0.2, reliability: 'shown' });
      await route.fulfill({ json: data });
    });
    await page.goto(address);
    await page.locator('[role=row]').first().waitFor();
    if (beside) await assert.rejects(holdsItsIntervals(page), 'a dot beside its bar is noticed');
    else await holdsItsIntervals(page);
    await context.close();
  }
}

/** The survey, and the results behind their token once they are drawn. */
async function survey(address, results, language) {
  const inLanguage = async (page) => assert.equal(await page.evaluate(() => document.documentElement.lang), language);
  for (const viewport of [desktop, phone]) for (const colorScheme of ['light', 'dark']) {
    await visit(address, { viewport, colorScheme, locale: language }, async (page) => {
      await page.locator('details summary').first().waitFor();
      await inLanguage(page);
      await unfolds(page);
    });
    // The dashboard is in English; questions on it are in the language of the survey.
    await visit(results, { viewport, colorScheme, locale: language }, async (page) => {
      await page.locator('h1').first().waitFor();
      await fits(page);
      await holdsItsIntervals(page);
    });
  }
}

try {
  await serving(['demo', '--respondents', '50'], /have answered/, async (said) => {
    await survey(`${/The survey: +(\S+)\//.exec(said)[1]}/`, /The results: +(\S+)/.exec(said)[1], 'en');
    await inventedResults(/The results: +(\S+)/.exec(said)[1]);
  });
  for (const language of ['de', 'es', 'fr']) {
    await serving(['serve', `survey-${language}`, '--results'], /results#\S+/, async (said) => {
      const results = /(http\S+results#\S+)/.exec(said)[1];
      await survey(results.replace(/results#.*/, ''), results, language);
    });
  }
} finally {
  await browser.close();
}
console.log('All pages pass.');
