// The studio in a real browser: from a file to a published report, from questions to a survey with ten respondents, by mouse and by keyboard.
// CANDOR, CANDOR_STUDIO, CANDOR_COLLECT: the binaries; CHROMIUM: the browser; SCREENSHOTS: a folder for pictures, if wanted.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { questionnaire, workers } from './data.mjs';

const folder = mkdtempSync(join(tmpdir(), 'studio-'));
const shelf = join(folder, 'studies');
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
let program, browser, address;

/** Starts the program; gives the address that it prints. */
async function start() {
  program = spawn(process.env.CANDOR_STUDIO, [shelf, '--no-browser']);
  return new Promise((resolve, reject) => {
    let text = '';
    program.stdout.on('data', (piece) => {
      text += piece;
      const found = /http:\/\/\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    program.on('exit', () => reject(new Error(text)));
  });
}

before(async () => {
  address = await start();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  program?.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** A window of the studio; whatever its console calls an error fails the test. */
async function open(options = {}, at = address) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const errors = [];
  const elsewhere = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && !/status of (409|422)/.test(message.text()) && errors.push(message.text()));
  page.on('request', (request) => !/^(http:\/\/(127\.0\.0\.1|localhost)|data:|blob:)/.test(request.url()) && elsewhere.push(request.url()));
  page.setDefaultTimeout(30_000);
  await page.goto(at);
  await page.locator('h1').waitFor();
  return { page, context, errors, elsewhere };
}

/** The rules of axe, in light and in dark, and a picture. */
async function looked(page, name) {
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme });
    // A page within the page has the ground of its color scheme: else its text is white on white in the dark.
    const grounds = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll('iframe')].map((one) => getComputedStyle(one).backgroundColor));
    assert.equal(new Set(grounds).size, 1, `${name}, ${colorScheme}: ${grounds}`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { iframes: false }));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ target, any }) => `${target} ${any[0]?.message ?? ''}`)]), [], `${name}, ${colorScheme}`);
  }
  for (const width of [1024, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels too wide at ${width}`);
    const out = await page.evaluate(() => [...document.querySelectorAll('main table')].filter((table) => table.parentElement && getComputedStyle(table.parentElement).overflowX === 'visible'
      && table.offsetWidth > table.parentElement.clientWidth + 1).map((table) => table.caption?.innerText ?? table.className));
    assert.deepEqual(out, [], `tables of ${name} that cover what is beside them at ${width}`);
  }
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `studio-${name}.png`) });
}

const heading = (page, text) => page.getByRole('heading', { level: 1, name: text }).waitFor();
const next = (page) => page.locator('#next:enabled').click();
const saved = (page) => page.waitForLoadState('networkidle');

/** Goes on until something holds. */
async function until(what, holds) {
  const began = Date.now();
  while (!(await holds())) {
    assert.ok(Date.now() - began < 60_000, what);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

const run = (command, options) => execFileSync('sh', ['-c', command], { ...options, env: { ...process.env, PATH: `${join(process.env.CANDOR, '..')}:${process.env.PATH}` } });

/** The script of a study, run in an empty folder, makes the same plan and the same estimates. */
function repeats(study) {
  const empty = mkdtempSync(join(folder, 'again-'));
  run(`sh '${join(study, 'commands.sh')}'`, { cwd: empty });
  assert.deepEqual(readFileSync(join(empty, 'plan.json')), readFileSync(join(study, 'plan.json')), 'byte for byte the same plan');
  assert.equal(readFileSync(join(empty, 'tables.csv'), 'utf8'), readFileSync(join(study, 'publication', 'tables.csv'), 'utf8'));
  assert.ok(existsSync(join(empty, 'report.html')) && existsSync(join(empty, 'promise-en.html')));
}

test('from a file to a published report', async () => {
  const { page, errors, elsewhere } = await open();
  await heading(page, 'What do you start from?');
  await looked(page, '0-start');
  const file = join(folder, 'workers.csv');
  writeFileSync(file, workers(6000));
  await page.locator('#file').setInputFiles(file);
  await page.getByText('6,000 rows, 7 columns').waitFor();
  assert.ok(await page.getByText('counts the rows').isVisible(), 'row numbers');
  assert.ok(await page.getByText('The same in every row: site').isVisible());
  assert.ok(await page.getByText('Numbers: age').isVisible());
  await looked(page, '1-open');
  await next(page);

  await heading(page, 'Which columns');
  const row = (name) => page.locator('table.questions tr', { has: page.locator('code', { hasText: new RegExp(`^${name}$`) }) });
  await row('city').getByLabel('As it is').check();
  await row('age').getByRole('button').first().click();
  await page.locator('#edges').fill('30, 45, 60');
  await page.getByText(/30 to below 45: \d/).waitFor();
  await page.locator('#make-groups').click();
  await row('age').locator('svg').waitFor();
  await row('age').getByLabel('As it is').check();
  await row('ill').getByRole('button').first().click();
  await page.locator('#question').fill('How often did work make you ill last year?');
  await page.locator('#question').blur();
  await page.getByRole('heading', { level: 2, name: 'How often did work make you ill last year?' }).waitFor();
  // Dragging and the keyboard set the order; undo takes it back.
  const answers = () => page.$$eval('#answers input', (all) => all.map((one) => one.placeholder));
  assert.deepEqual(await answers(), ['never', 'often', 'once']);
  await page.locator('#answers li').nth(1).dragTo(page.locator('#answers li').nth(2));
  await until('dragged', async () => (await answers()).join() === 'never,once,often');
  await page.locator('#undo').click();
  await until('undone', async () => (await answers()).join() === 'never,often,once');
  await page.locator('#answers-down-1').click();
  await until('moved', async () => (await answers()).join() === 'never,once,often');
  await page.locator('#kind-ordinal').check();
  await row('ill').getByText('in order').waitFor();
  await looked(page, '2-columns');
  await next(page);

  await heading(page, 'Which tables');
  await page.getByRole('checkbox', { name: 'How often did work make you ill last year? by city', exact: true }).check();
  await page.getByRole('checkbox', { name: 'How often did work make you ill last year? by age', exact: true }).check();
  await page.getByRole('checkbox', { name: 'told by city', exact: true }).check();
  await page.locator('#by-another').selectOption('shift');
  await page.getByRole('checkbox', { name: 'How often did work make you ill last year? by shift', exact: true }).check();
  await page.getByRole('heading', { name: '4 tables' }).waitFor();
  await looked(page, '3-tables');
  await next(page);

  await heading(page, 'How much may one reply tell?');
  const slider = page.locator('#slider');
  await slider.waitFor();
  await until('all stops', async () => (await page.locator('details table tbody tr').count()) >= 12);
  const value = () => slider.getAttribute('aria-valuetext');
  const first = await value();
  assert.match(first, /^at worst \d+ of 100 guesses right, typical margin [\d.]+ points$/);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const began = Date.now();
  await until('the slider moved', async () => (await value()) !== first);
  assert.ok(Date.now() - began < 1000, 'numbers follow the slider');
  await until('costs', async () => !(await page.locator('section[aria-labelledby=your-questions]').innerText()).includes('…'));
  // What a question costs is shown, and a switch shows what it gains.
  const margins = () => page.locator('section[aria-labelledby=your-tables]').innerText();
  const before = await margins();
  await page.getByRole('switch', { name: 'Protect shift' }).uncheck();
  await until('sharper', async () => (await margins()) !== before && (await page.locator('.stale').count()) === 0);
  await page.locator('#undo').click();
  await until('as before', async () => (await margins()) === before);
  await until('stops again', async () => (await page.locator('details table tbody tr').count()) >= 12);
  await looked(page, '4-trade-off');
  await next(page);

  await heading(page, 'What will you promise?');
  await page.getByRole('checkbox', { name: 'German', exact: true }).check();
  await page.locator('#text-de-title').waitFor();
  await page.locator('#text-en-title').fill('What happens with your answers');
  await page.locator('#text-en-title').blur();
  await page.frameLocator('iframe').first().getByRole('heading', { level: 1, name: 'What happens with your answers' }).waitFor();
  await looked(page, '5-promise');
  await next(page);

  await heading(page, 'How do the answers come in?');
  await page.locator('#protect').click();
  await page.getByText('Drawn once, and locked').waitFor();
  await page.getByText('Drawing again would break what was promised', { exact: false }).waitFor();
  await looked(page, '6-collect');
  await page.getByText('Draw again all the same').click();
  await page.locator('#confirm').fill('yes');
  await page.locator('#again').click();
  await page.getByRole('alert').waitFor();
  await next(page);

  await heading(page, 'What the answers tell');
  await page.getByText('6,000 answers').waitFor();
  await looked(page, '7-results');
  await page.locator('#view-table').check();
  await page.locator('#sort-1').click();
  assert.equal(await page.locator('th[aria-sort=ascending]').count(), 1);
  await page.locator('#view-differences').check();
  await page.getByText('Differences between groups').waitFor();
  await page.locator('#only').selectOption({ label: 'city: Arden' });
  await until('fewer', async () => !(await page.locator('#body').innerText()).includes('6,000 answers'));
  await page.locator('#only').selectOption({ label: 'Everybody' });
  await page.getByText('6,000 answers').waitFor();
  await page.locator('#regression').click();
  await page.locator('#outcome').selectOption('ill');
  await page.getByRole('checkbox', { name: 'shift' }).check();
  await page.locator('#add-model').click();
  await page.getByText(/^6,000 people, \w+/).waitFor();
  await page.locator('#publish-model').click();
  await saved(page);
  await next(page);

  await heading(page, 'Publish');
  await page.locator('#title').fill('Work and illness in three cities');
  await page.locator('#title').blur();
  await page.frameLocator('iframe').getByRole('heading', { level: 1, name: 'Work and illness in three cities' }).waitFor();
  // Main points are the author's words with the numbers of the tables.
  await page.locator('#edit-points').click();
  await page.locator('#point-0').fill('Our first finding:');
  await page.locator('#point-0').blur();
  await page.frameLocator('iframe').getByText('Our first finding:').waitFor();
  await page.locator('#share-0').selectOption({ index: 1 });
  await page.frameLocator('iframe').getByText(/Our first finding: \d+% \(±\d+\)/).waitFor();
  await page.locator('#point-0').fill('Nobody {ill: nobody}');
  await page.locator('#point-0').blur();
  await page.locator('#point-0-read', { hasText: 'the report has no share' }).waitFor();
  await page.locator('#point-0-remove').click();
  await page.frameLocator('iframe').getByText('Our first finding:').waitFor({ state: 'detached' });
  await page.locator('#about-notes').fill('A note for readers.');
  await page.locator('#about-notes').blur();
  await page.frameLocator('iframe').getByText('A note for readers.').waitFor();
  await page.locator('#about-population').fill('Employees of 18 and more');
  await page.locator('#about-population').blur();
  await page.frameLocator('iframe').getByText('Employees of 18 and more').waitFor();
  await looked(page, '8-publish');
  await page.locator('#publish').click();
  await page.getByText('Everything is in').waitFor();
  const study = join(shelf, 'workers');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  assert.equal(download.suggestedFilename(), 'publication.zip');
  await download.saveAs(join(folder, 'published.zip'));
  run('python3 -m zipfile -e published.zip unpacked', { cwd: folder });
  assert.deepEqual(readFileSync(join(folder, 'unpacked', 'workers', 'plan.json')), readFileSync(join(study, 'plan.json')));
  for (const name of ['report.html', 'tables.csv', 'plan.json', 'methods.md', 'commands.sh', 'promise-de.html']) {
    assert.ok(existsSync(join(study, 'publication', name)), name);
  }
  assert.match(readFileSync(join(study, 'publication', 'report.html'), 'utf8'), /Work and illness in three cities/);
  repeats(study);
  // Reload, back, and a second window show the same.
  await page.reload();
  await heading(page, 'Publish');
  await page.goBack();
  await heading(page, 'What the answers tell');
  const second = await open({}, page.url());
  await heading(second.page, 'What the answers tell');
  assert.deepEqual([errors, elsewhere], [[], []]);
});

test('a program that is killed loses nothing, and says how to go on', async () => {
  const { page } = await open();
  const file = join(folder, 'killed.csv');
  writeFileSync(file, workers(500, 7));
  await page.locator('#file').setInputFiles(file);
  await page.getByText('500 rows').waitFor();
  await page.locator('#title').fill('Before the end');
  await page.locator('#title').blur();
  await until('saved', async () => (await page.locator('.study').innerText()) === 'Before the end');
  program.kill('SIGKILL');
  await new Promise((resolve) => { program.on('exit', resolve); });
  await page.locator('#title').fill('After the end');
  await page.locator('#title').blur();
  await page.getByText('the program was ended', { exact: false }).waitFor();
  assert.equal(await page.locator('.unsaved').innerText(), 'The last change is not saved');
  address = await start();
  const again = await open();
  await again.page.getByRole('button', { name: 'killed' }).click();
  await until('the title', async () => (await again.page.locator('.study').innerText()) === 'Before the end');
});

test('what was changed by hand has a way on', async () => {
  const { page } = await open();
  const file = join(folder, 'hand.csv');
  writeFileSync(file, workers(500, 9));
  await page.locator('#file').setInputFiles(file);
  await page.getByText('500 rows').waitFor();
  await page.locator('#title').fill('Before');
  await page.locator('#title').blur();
  await until('saved', async () => (await page.locator('.study').innerText()) === 'Before');
  writeFileSync(join(shelf, 'hand', 'schema.toml'), 'nonsense');
  await page.reload();
  await page.getByText('schema.toml was changed by hand', { exact: false }).waitFor();
  await page.locator('#undo-damaged').click();
  await page.getByText('500 rows').waitFor();
  // An edge that is no number is told before anything is sent.
  await next(page);
  await page.getByRole('button', { name: 'age', exact: true }).click();
  await page.locator('#edges').fill('30, many');
  await page.locator('#make-groups').click();
  await page.getByRole('alert').getByText('“many” is not a number', { exact: false }).waitFor();
});

test('a survey with ten respondents', async () => {
  const { page, errors } = await open();
  await page.locator('#write').click();
  await heading(page, 'Which columns');
  for (const [name, question, answers, open_] of [['smokes', 'Do you smoke?', 'no\nsometimes\ndaily', false], ['region', 'Where do you live?', 'north\nsouth', true]]) {
    await page.locator('#new-text').fill(question);
    await page.locator('#new-name').fill(name);
    await page.locator('#new-answers').fill(answers);
    if (open_) await page.locator('#new-public').check();
    await page.locator('#add').click();
    await page.getByRole('button', { name: question, exact: true }).waitFor();
  }
  await next(page);
  await page.getByRole('checkbox', { name: 'Do you smoke? alone', exact: true }).check();
  await next(page);
  await page.locator('#people').fill('2000');
  await page.locator('#people').blur();
  await page.locator('#slider').waitFor();
  await next(page);
  await heading(page, 'What will you promise?');
  await next(page);
  await page.locator('#start').click();
  const at = (await page.locator('#survey-address').innerText()).replace(/\/$/, '');
  await looked(page, '6-survey');
  // Ten respondents, each in a browser of their own.
  for (let i = 0; i < 10; i += 1) {
    const context = await browser.newContext({ locale: 'en-US' });
    const respondent = await context.newPage();
    await respondent.goto(at);
    await respondent.getByRole('group', { name: 'Do you smoke?' }).getByLabel(['no', 'daily'][i % 2], { exact: true }).check();
    await respondent.getByRole('group', { name: 'Where do you live?' }).getByLabel(['north', 'south'][i % 2], { exact: true }).check();
    await respondent.locator('#next').click();
    await respondent.locator('#draw').click();
    await respondent.locator('#send').click();
    await respondent.getByText('Your answers have arrived').waitFor();
    await context.close();
  }
  await page.locator('#fetch').click();
  await page.getByText('Drawn once, and locked').waitFor();
  await next(page);
  await page.getByText('10 answers. Estimates').waitFor();
  await next(page);
  await page.locator('#publish').click();
  await page.getByText('Everything is in').waitFor();
  repeats(join(shelf, 'My survey'));
  assert.deepEqual(errors, []);
});

test('the keyboard alone', async () => {
  const { page, errors } = await open();
  /** Goes on with the tabulator until something with this id or name has the focus. */
  const tab = async (wanted) => {
    for (let i = 0; i < 150; i += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const { activeElement: one } = document;
        return [one?.id, one?.getAttribute('aria-label'), one?.textContent?.trim()];
      });
      if (at.includes(wanted)) return;
    }
    assert.fail(`the focus never comes to ${wanted}`);
  };
  const press = async (wanted, key = 'Enter') => {
    await tab(wanted);
    await page.keyboard.press(key);
  };
  const file = join(folder, 'keys.csv');
  writeFileSync(file, workers(3000, 11));
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press('choose')]);
  await chooser.setFiles(file);
  await page.getByText('3,000 rows, 7 columns').waitFor();
  await press('next');
  await heading(page, 'Which columns');
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1', 'the step is read first');
  await tab('role-0-protect');
  await page.keyboard.press('ArrowRight');
  await page.locator('#role-0-public:checked').waitFor();
  await press('column-2');
  await page.getByRole('heading', { level: 2, name: 'ill' }).waitFor();
  const first = async () => (await page.$$eval('#answers input', (all) => all.map((one) => one.placeholder)))[0];
  const before = await first();
  await press('answers-down-0');
  await until('moved', async () => (await first()) !== before);
  assert.equal(await page.evaluate(() => document.activeElement?.id.startsWith('answers-')), true, 'the focus stays with the answer');
  await page.keyboard.press('Control+z');
  await until('taken back', async () => (await first()) === before);
  await press('next');
  await heading(page, 'Which tables');
  await press('tick-1-0', 'Space');
  await page.getByRole('heading', { name: '1 table' }).waitFor();
  await press('next');
  await page.locator('#next:enabled').waitFor();
  await tab('slider');
  const at = () => page.locator('#slider').getAttribute('aria-valuetext');
  const stop = await at();
  await page.keyboard.press('ArrowRight');
  await until('moved', async () => (await at()) !== stop);
  await page.locator('#next:enabled').waitFor();
  await press('next');
  await heading(page, 'What will you promise?');
  await press('next');
  await press('protect');
  await page.getByText('Drawn once, and locked').waitFor();
  await press('next');
  await page.getByText('3,000 answers').waitFor();
  await press('next');
  await heading(page, 'Publish');
  await press('publish');
  await page.getByText('Everything is in').waitFor();
  repeats(join(shelf, 'keys'));
  assert.deepEqual(errors, []);
});

test('what is done quickly is not lost', async () => {
  const { page, errors } = await open();
  const file = join(folder, 'quick.csv');
  writeFileSync(file, workers(500, 5));
  await page.locator('#file').setInputFiles(file);
  await page.getByText('500 rows').waitFor();
  await next(page);
  await heading(page, 'Which columns');
  // What is being typed stays while a change before it is saved.
  await page.locator('#question').fill('Which city?');
  await page.locator('#label-0').focus();
  await page.keyboard.type('Arden, the capital');
  await page.getByRole('heading', { level: 2, name: 'Which city?' }).waitFor();
  assert.equal(await page.locator('#label-0').inputValue(), 'Arden, the capital');
  await page.locator('#question').focus();
  await until('the label', async () => readFileSync(join(shelf, 'quick', 'texts-en.toml'), 'utf8').includes('Arden, the capital'));
  await next(page);
  await heading(page, 'Which tables');
  await page.evaluate(() => ['tick-0', 'tick-1', 'tick-2'].forEach((id) => document.getElementById(id)?.click()));
  await page.getByRole('heading', { name: '3 tables' }).waitFor();
  await next(page);
  await page.locator('#next:enabled').waitFor();
  // The slider follows the mouse over several stops.
  const slider = page.locator('#slider');
  const box = await slider.boundingBox();
  const stop = async () => Number(await slider.inputValue());
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.5, middle);
  await page.mouse.down();
  for (const part of [0.4, 0.3, 0.2, 0.1]) await page.mouse.move(box.x + box.width * part, middle, { steps: 3 });
  await until('dragged', async () => (await stop()) <= 2);
  await page.mouse.up();
  assert.ok((await stop()) <= 2);
  assert.deepEqual(errors, []);
});

test('sixty questions and a million rows', { timeout: 240_000 }, async () => {
  const { page, errors } = await open();
  const file = join(folder, 'questionnaire.csv');
  writeFileSync(file, questionnaire(3000, 59));
  await page.locator('#file').setInputFiles(file);
  await page.getByText('3,000 rows, 60 columns').waitFor();
  await next(page);
  await page.locator('#find').fill('q1');
  await until('found', async () => (await page.locator('table.questions tbody tr').count()) === 10);
  await page.locator('#all-out').click();
  await until('left out', async () => (await page.locator('table.questions tbody tr.out').count()) === 10);
  await page.locator('#undo').click();
  await page.locator('#find').fill('region');
  await page.locator('table.questions').getByLabel('As it is').check();
  await saved(page);
  await next(page);
  await page.locator('#all-by-0').click();
  await page.getByRole('heading', { name: '59 tables' }).waitFor();
  await next(page);
  await page.locator('#slider').waitFor();
  await page.getByText('Show all 59').waitFor();
  await looked(page, '4-sixty');
  const large = join(folder, 'large.csv');
  const lines = questionnaire(10_000, 19).split('\n');
  const head = lines.shift();
  const body = lines.join('\n');
  writeFileSync(large, `${head}\n${Array.from({ length: 100 }, () => body).join('')}`);
  await page.goto(address);
  await page.getByText('Your studies').waitFor();
  const began = Date.now();
  await page.locator('#file').setInputFiles(large);
  await page.getByText('1,000,000 rows, 20 columns').waitFor({ timeout: 120_000 });
  const seconds = (Date.now() - began) / 1000;
  console.log(`one million rows are open after ${seconds.toFixed(1)} s`);
  assert.deepEqual(errors, []);
});
