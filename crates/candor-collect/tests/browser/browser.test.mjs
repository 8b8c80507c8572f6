// The survey in a real browser: what is shown is what is sent, once, and nothing else.
// CANDOR_COLLECT: the binary; CHROMIUM: the browser; SCREENSHOTS: a folder for pictures, if wanted.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const repository = new URL('../../../../', import.meta.url);
let server, browser, address, results;
const served = new Set();

before(async () => {
  server = spawn(process.env.CANDOR_COLLECT, ['demo', '--respondents', '300', '--listen', '127.0.0.1:0']);
  const said = await new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (piece) => { text += piece; if (text.includes('have answered')) resolve(text); });
    server.on('exit', () => reject(new Error(text)));
  });
  address = /The survey: +(\S+)\//.exec(said)[1];
  results = /The results: +(\S+)/.exec(said)[1];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server?.kill('SIGINT');
  // Those that a test which failed left behind.
  served.forEach((one) => one.kill('SIGKILL'));
});

const picture = async (page, name) => process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
const token = () => results.split('#')[1];
const stored = async () => (await (await fetch(`${address}/results.json`, { headers: { authorization: `Bearer ${token()}` } })).json()).responses;

/** A page with a fresh storage, and all it asks for. */
async function open(options = {}, path = '/', at = address) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const requests = [];
  page.on('request', (request) => requests.push(request));
  const errors = [];
  page.on('pageerror', (error) => errors.push(error));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(at + path);
  return { context, page, requests, errors };
}

const posts = (requests) => requests.filter((request) => request.method() === 'POST');

async function fill(page) {
  await page.getByLabel('In the south').check();
  await page.getByLabel('How old are you, in years?').fill('41');
  await page.getByRole('group', { name: 'Do you smoke?' }).getByLabel('Every day').check();
  await page.getByRole('group', { name: 'Do you drink alcohol?' }).getByLabel('No answer').check();
  await page.getByLabel('I am of age').check();
}

/** From the questions to what is sent: the answers are shown once more, then chance draws. */
async function draw(page) {
  await page.locator('#next').click();
  await page.locator('#draw').click();
  await page.locator('#send').waitFor();
}

const THANKS = 'Your answers have arrived and are stored.';

const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** The rules of axe. */
async function accessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => String(target))]), [], name);
}

/** The response as the page shows it, in its words. */
const shown = (page) => page.$$eval('#response strong', (values) => values.map((value) => value.textContent));

const WORDS = { no: 'No', sometimes: 'Sometimes', daily: 'Every day', '': 'No answer', north: 'In the north', south: 'In the south', 'below 30': 'Below 30' };

for (const [name, options] of [['desktop', {}], ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }], ['dark', { colorScheme: 'dark' }]]) {
  test(`what is shown is what is sent, once: ${name}`, async () => {
    const before = await stored();
    const { page, requests, errors, context } = await open(options);
    await page.getByText('Chance changes your answers before they leave this device.').waitFor();
    await picture(page, `${name}-questions`);
    await accessible(page, 'questions');
    const { y } = await page.locator('fieldset').first().boundingBox();
    assert.ok(y < 480, `questions first: at ${y} px`);
    assert.equal(await page.locator('form').count(), 0, 'nothing can be submitted');
    assert.equal(await page.locator('main[aria-live]').count(), 0, 'only what changes is read aloud');
    await page.locator('#next').click();
    assert.ok(await page.locator('#unticked').isVisible());
    const before_answers = [...requests];
    await fill(page);
    await page.locator('#next').click();
    await page.getByRole('heading', { name: 'Check your answers' }).waitFor();
    await picture(page, `${name}-check`);
    await accessible(page, 'check');
    assert.deepEqual(await page.$$eval('#given strong', (all) => all.map((one) => one.textContent)), ['In the south', '41', 'Every day', 'No answer']);
    assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), {}, 'nothing is drawn and nothing is kept before that');
    await page.locator('#draw').click();
    await page.locator('#send').waitFor();
    await picture(page, `${name}-review`);
    await accessible(page, 'review');
    const table = await shown(page);
    assert.equal(posts(requests).length, 0, 'nothing is sent before it is shown');
    await page.locator('#send').click();
    await page.getByText(THANKS).waitFor();
    await picture(page, `${name}-done`);
    await accessible(page, 'done');
    assert.equal(posts(requests).length, 1);
    const body = posts(requests)[0].postDataJSON();
    assert.deepEqual(Object.keys(body), ['id', 'response']);
    // No free bits: the number is what the server gave out before anything was answered, and everything else is what was shown.
    const numbers = requests.filter((request) => request.url() === `${address}/id`);
    assert.equal(numbers.length, 1);
    assert.equal((await (await numbers[0].response()).json()).id, body.id);
    assert.ok(before_answers.includes(numbers[0]), 'before anything is answered');
    assert.equal(posts(requests)[0].postData(), JSON.stringify({ id: body.id, response: body.response }));
    assert.deepEqual(Object.keys(body.response), ['candor_fingerprint', 'Region', 'Smokes', 'Drinks', 'Age']);
    // In the order of the questions on the page.
    assert.deepEqual(table, ['Region', 'Age', 'Smokes', 'Drinks'].map((name) => body.response[name]).map((value) => WORDS[value] ?? value));
    // The number of the port may contain the age.
    assert.ok(requests.every((request) => request.url().startsWith(address) && !request.url().slice(address.length).includes('41')), 'nothing from or to elsewhere');
    assert.deepEqual(await context.cookies(), []);
    const kept = await page.evaluate(() => Object.values({ ...localStorage }));
    assert.deepEqual(kept.map((text) => JSON.parse(text)), [{ id: body.id, response: body.response, sent: true }], 'only the response is kept');
    assert.deepEqual(await page.evaluate(() => ({ ...sessionStorage })), {});
    assert.deepEqual(errors, []);
    assert.equal(await stored(), before + 1);
    await context.close();
  });
}

test('by keyboard alone', async () => {
  const before = await stored();
  const { page, context } = await open();
  await page.locator('#next').waitFor();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const reach = async (what) => {
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((what) => document.activeElement.matches(what), what)) return;
    }
    assert.fail(`${what} is not reached by the keyboard`);
  };
  await reach('input[type=radio]');
  await press('ArrowDown');
  await reach('input[type=text]');
  await page.keyboard.type('33');
  await reach('input[type=radio]');
  await press('Space');
  await reach('input[type=radio]');
  await press('Space');
  await reach('input[type=checkbox]');
  await press('Space');
  await reach('#next');
  await press('Enter');
  await page.locator('#draw').waitFor();
  await reach('#draw');
  await press('Enter');
  await page.locator('#send').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'a screen reader hears what comes next');
  await reach('#send');
  await press('Enter');
  await page.getByText(THANKS).waitFor();
  assert.equal(await stored(), before + 1);
  await context.close();
});

test('reload and back keep what was drawn, and what was sent is not sent again', async () => {
  const before = await stored();
  const { page, requests, context } = await open();
  await page.locator('#next').waitFor();
  await fill(page);
  await draw(page);
  const first = await shown(page);
  await page.reload();
  await page.getByText('Chance has drawn on this device before').waitFor();
  assert.deepEqual(await shown(page), first);
  await page.goto('about:blank');
  await page.goBack();
  await page.locator('#stop').click();
  await page.getByRole('heading', { name: 'Nothing was sent' }).waitFor();
  await page.reload();
  assert.deepEqual(await page.locator('#send').waitFor().then(() => shown(page)), first);
  await page.locator('#send').dblclick();
  await page.getByText(THANKS).waitFor();
  assert.equal(posts(requests).length, 1, 'a double click sends once');
  for (const again of [() => page.reload(), () => page.goto(address)]) {
    await again();
    await page.getByRole('heading', { name: 'You have answered already' }).waitFor();
    assert.equal(await page.locator('#send, #next, #draw').count(), 0, 'nothing is offered');
    await page.getByText('What was sent from this device').click();
    assert.deepEqual(await shown(page), first);
  }
  await picture(page, 'already');
  assert.equal(await stored(), before + 1);
  await context.close();
});

test('what is wrong is told at the question and above, and disappears once it is mended', async () => {
  const { page, context } = await open({ viewport: { width: 1280, height: 900 } });
  await page.locator('#next').waitFor();
  const age = page.getByLabel('How old are you, in years?');
  await age.fill('-5');
  await page.locator('#next').click();
  const summary = page.locator('.summary');
  assert.equal(await summary.getByRole('link').count(), 5);
  assert.equal(await page.evaluate(() => document.activeElement.className), 'summary');
  await picture(page, 'errors');
  await accessible(page, 'errors');
  const at = (name) => page.getByRole('group', { name }).locator('.wrong');
  assert.equal(await at('How old are you').innerText(), 'Please type a number from 0 to 120.');
  assert.equal(await at('Do you drink alcohol?').innerText(), 'Please choose an answer, or “No answer”.');
  assert.equal(await at('Do you smoke?').innerText(), 'Please choose an answer.');
  await summary.getByRole('link', { name: /How old/ }).click();
  assert.ok(await age.evaluate((box) => box === document.activeElement));
  for (const [wrong, shown] of [['-5', true], ['121', true], ['old', true], ['1e999', true], ['41', false]]) {
    await age.fill(wrong);
    assert.equal(await at('How old are you').isVisible(), shown, wrong);
  }
  await fill(page);
  assert.equal(await summary.isVisible(), false, 'all is mended');
  assert.equal(await page.locator('.wrong:visible').count(), 0);
  // Nothing is final before chance draws.
  await page.locator('#next').click();
  await page.getByRole('button', { name: 'Change: Do you smoke?' }).click();
  const smokes = page.getByRole('group', { name: 'Do you smoke?' });
  assert.ok(await smokes.getByLabel('Every day').isChecked(), 'what was answered is still there');
  assert.ok(await smokes.getByLabel('Every day').evaluate((one) => one === document.activeElement));
  await smokes.getByLabel('No', { exact: true }).check();
  await page.locator('#next').click();
  assert.deepEqual(await page.$$eval('#given strong', (all) => all.map((one) => one.textContent)), ['In the south', '41', 'No', 'No answer']);
  await page.locator('#back').click();
  await page.locator('#next').waitFor();
  assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), {}, 'nothing was drawn');
  // What is not protected says so, at the question.
  assert.deepEqual(await page.$$eval('fieldset .mark', (all) => all.map((one) => one.textContent)),
    ['Sent as it is, not protected', ...Array(3).fill('Changed by chance before it is sent')]);
  await context.close();
});

test('the language stays, with the answers', async () => {
  const { page, context } = await open();
  await page.locator('#next').waitFor();
  await fill(page);
  await page.getByRole('combobox').selectOption('de');
  await page.getByText('Der Zufall verändert Ihre Antworten').first().waitFor();
  assert.ok(await page.getByLabel('Täglich').first().isChecked());
  await page.reload();
  await page.getByText('Der Zufall verändert Ihre Antworten').first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
  assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), {});
  await context.close();
});

test('two tabs give one response', async () => {
  const before = await stored();
  const { page, context } = await open();
  const other = await context.newPage();
  await other.goto(address);
  for (const tab of [page, other]) await tab.locator('#next').waitFor();
  for (const tab of [page, other]) {
    await fill(tab);
    await draw(tab);
  }
  assert.deepEqual(await shown(page), await shown(other));
  await Promise.all([page, other].map((tab) => tab.locator('#send').click()));
  await Promise.all([page, other].map((tab) => tab.getByText(/are stored|stored already/).waitFor()));
  assert.equal(await stored(), before + 1);
  await context.close();
});

test('without a connection nothing is lost', async () => {
  const before = await stored();
  const { page, context } = await open();
  await page.locator('#next').waitFor();
  await fill(page);
  await context.setOffline(true);
  await draw(page);
  await page.locator('#send').click();
  await page.getByText('There is no connection').waitFor();
  await picture(page, 'offline');
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(THANKS).waitFor();
  assert.equal(await stored(), before + 1);
  await context.close();
});

test('in German, and without a script', async () => {
  const { page, context } = await open({ locale: 'de-DE' });
  await page.getByText('Der Zufall verändert Ihre Antworten, bevor sie dieses Gerät verlassen.').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
  await picture(page, 'german');
  await page.getByRole('combobox').selectOption('en');
  await page.getByText('Chance changes your answers before they leave this device.').waitFor();
  await context.close();
  const bare = await open({ javaScriptEnabled: false });
  assert.match((await bare.page.locator('noscript').allInnerTexts()).join(' '), /This page needs JavaScript/);
  assert.equal(await bare.page.locator('input, button').count(), 0);
  await picture(bare.page, 'no-script');
  await bare.context.close();
});

test('a saved copy of the page works from a file', async () => {
  const before = await stored();
  const file = join(mkdtempSync(join(tmpdir(), 'candor-')), 'survey.html');
  writeFileSync(file, await (await fetch(`${address}/offline.html`)).text());
  const { page, context, requests, errors } = await open();
  requests.length = 0;
  await page.goto(`file://${file}`);
  await page.locator('#next').waitFor();
  await fill(page);
  await draw(page);
  await page.locator('#send').click();
  await page.getByText(THANKS).waitFor();
  assert.equal(posts(requests).length, 1);
  assert.ok(requests.every((request) => request.url().startsWith('file://') || [`${address}/id`, `${address}/responses`].includes(request.url())));
  assert.deepEqual(errors, []);
  assert.equal(await stored(), before + 1);
  await context.close();
});

test('all test vectors pass in the browser', async () => {
  const { page, context } = await open();
  const folder = new URL('crates/candor-base/tests/vectors/', repository);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  assert.ok(files.length >= 18);
  assert.ok(files.filter((name) => name.startsWith('strip')).length >= 5, 'strips among them');
  for (const file of files) {
    const vectors = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
    const plan = readFileSync(new URL(vectors.plan, folder), 'utf8');
    const wrong = await page.evaluate(async ({ plan, cases }) => {
      const { readPlan, drawBlocks } = await import('/client.js');
      const ready = await readPlan(plan, { allowUnbounded: true });
      return cases.filter(({ record, bytes, blocks }) => {
        const given = Uint8Array.from(bytes.match(/../g) ?? [], (byte) => parseInt(byte, 16));
        let used = 0;
        const drawn = drawBlocks(ready, record, (out) => out.set(given.subarray(used, (used += out.length))));
        const text = (blocks) => JSON.stringify(blocks.map(({ tag, answers }) => [tag, answers]));
        return text(drawn) !== text(blocks) || used !== given.length;
      }).length;
    }, { plan, cases: vectors.cases });
    assert.equal(wrong, 0, file);
  }
  await context.close();
});

test('2,000 answers of a browser give estimates within their intervals', async () => {
  const get = async () => (await fetch(`${address}/results.json`, { headers: { authorization: `Bearer ${token()}` } })).json();
  const share = (data, n) => data.estimates.tables.find(({ attributes }) => String(attributes) === 'Smokes').cells.map(({ estimate, standard_error: se }) => [estimate * n, se * n]);
  const first = await get();
  const { page, context } = await open();
  await page.evaluate(async () => {
    const { answer, readPlan } = await import('/client.js');
    const plan = await readPlan(await (await fetch('/plan.json')).text());
    const one = async (n) => {
      // Seven in ten smoke every day, the others not.
      const response = answer(plan, { Region: 'north', Age: 20, Drinks: '', Smokes: n % 10 < 7 ? 'daily' : 'no' });
      const body = JSON.stringify({ id: (await (await fetch('/id')).json()).id, response });
      const reply = await fetch('/responses', { method: 'POST', body });
      if (reply.status !== 201) throw new Error(`${reply.status}`);
    };
    for (let start = 0; start < 2000; start += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => one(start + i)));
  });
  const then = await get();
  assert.equal(then.responses, first.responses + 2000);
  const [old, now] = [share(first, first.responses), share(then, then.responses)];
  // 5.3 standard errors: a false alarm below one in a million, for all three together.
  [0.3, 0, 0.7].forEach((truth, i) => {
    const error = Math.hypot(old[i][1], now[i][1]);
    assert.ok(Math.abs(now[i][0] - old[i][0] - 2000 * truth) < 5.3 * error, `${now[i][0] - old[i][0]} of ${2000 * truth} +- ${error}`);
  });
  await context.close();
});

test('the dashboard shows what is there to who has the token', async () => {
  const { page, context, errors } = await open();
  await page.goto(results);
  await page.getByText('This page updates by itself').waitFor();
  await page.getByRole('heading', { name: 'Estimates so far' }).waitFor();
  const smoking = page.getByRole('table', { name: 'Do you smoke?' });
  await smoking.getByRole('rowheader', { name: 'Every day', exact: true }).waitFor();
  await page.getByRole('table', { name: 'Do you drink alcohol?' }).getByRole('rowheader', { name: 'No answer', exact: true }).waitFor();
  // Every point lies in its interval, every percentage between 0 and 100, and what is imprecise is gray or not shown.
  const data = await (await fetch(`${address}/results.json`, { headers: { authorization: `Bearer ${token()}` } })).json();
  const cells = data.estimates.tables.flatMap((one) => one.cells);
  assert.ok(cells.length > 50 && cells.every(({ shown_estimate: shown, low, high }) => shown === null || (shown >= Math.max(0, low) && shown <= Math.min(1, high))));
  const rows = await page.$$eval('.cells [role=row]', (all) => all.map((one) => [one.className, ...[...one.querySelectorAll('.value, .margin')].map((part) => part.textContent), one.querySelectorAll('.point').length]));
  const grades = data.estimates.tables.filter(({ attributes }) => attributes.length === 1).flatMap((one) => one.cells.map(({ reliability }) => reliability));
  assert.deepEqual(rows.map(([grade]) => grade), grades);
  for (const [grade, value, margin, points] of rows) {
    const expected = { shown: [/^\d{1,3}(\.\d)?%$/, /^±\d+\.\d$/, 1], rough: [/^\d{1,3}%$/, /^±\d+\.\d$/, 1], under: [/^≤ \d+%$/, /^$/, 0], hidden: [/^–$/, /^$/, 0] }[grade];
    assert.match(value, expected[0]);
    assert.match(margin, expected[1]);
    assert.equal(points, expected[2]);
    assert.ok(!(parseFloat(value) > 100));
  }
  assert.ok(!(await page.locator('body').innerText()).includes('NaN'));
  await page.getByText(/responses, all of them counted below/).waitFor();
  assert.equal(await page.locator('[aria-live], [role=status]').count(), 1, 'the number of responses, and nothing else');
  await picture(page, 'results-folded');
  for (const summary of await page.locator('summary').all()) await summary.click();
  await picture(page, 'results');
  await accessible(page, 'results');
  const [report] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download report' }).click()]);
  assert.match(readFileSync(await report.path(), 'utf8'), /For whoever collects the responses it is up to/, 'the report says both numbers');
  await page.getByText('Once the survey is closed').waitFor();
  assert.deepEqual(errors, []);
  await page.goto('about:blank');
  await page.goto(`${address}/results#wrong`);
  await page.getByText('No results: the token').waitFor();
  await context.close();
});

/** A survey of its own, with settings, being served; `again` stops it, changes its settings and serves it at the same address. */
async function survey(settings, name = 'public') {
  const folder = join(mkdtempSync(join(tmpdir(), 'candor-')), 'survey');
  const plan = new URL(`crates/candor-base/tests/plans/good/${name}.json`, repository).pathname;
  const collect = (...words) => execFileSync(process.env.CANDOR_COLLECT, words, { encoding: 'utf8' });
  collect('new', folder, '--plan', plan);
  const toml = readFileSync(join(folder, 'survey.toml'), 'utf8');
  let process_;
  const start = async (settings, listen) => {
    writeFileSync(join(folder, 'survey.toml'), `${settings}\n${toml.replace(/^(invitations|shared_devices) = .*\n/gm, '')}`);
    process_ = spawn(process.env.CANDOR_COLLECT, ['serve', folder, '--results', '--listen', listen]);
    const one = process_;
    served.add(one);
    one.on('close', () => served.delete(one));
    const said = await new Promise((resolve, reject) => {
      let text = '';
      process_.stdout.on('data', (piece) => { text += piece; if (text.includes('Results:')) resolve(text); });
      process_.stderr.on('data', (piece) => { text += piece; });
      process_.on('exit', () => reject(new Error(text)));
    });
    return /Survey: +(\S+)\//.exec(said)[1];
  };
  const stop = () => new Promise((resolve) => { process_.removeAllListeners('exit'); process_.on('exit', resolve); process_.kill('SIGINT'); });
  const at = await start(settings, '127.0.0.1:0');
  return { at, stop, collect, folder, again: async (settings) => { await stop(); await start(settings, new URL(at).host); } };
}

test('attributes and categories may have the names of what objects inherit', async () => {
  const { at, stop } = await survey('shared_devices = true', 'inherited-names');
  const { page, requests, errors, context } = await open({}, '/', at);
  const questions = [0, 1, 2].map((number) => page.locator('fieldset').nth(number));
  await questions[0].getByLabel('yes').check();
  await questions[1].getByLabel('no').check();
  await questions[2].getByLabel('few').check();
  await draw(page);
  assert.equal((await shown(page)).length, 3);
  await page.locator('#send').click();
  await page.getByText(THANKS).waitFor();
  const { response } = JSON.parse(posts(requests)[0].postData());
  assert.deepEqual(Object.keys(response), ['candor_fingerprint', '__proto__', 'constructor', 'toString']);
  assert.deepEqual(errors, []);
  await context.close();
  await stop();
});

test('a question for some only is hidden from others, and nothing that is sent tells it', async () => {
  const { at, stop } = await survey('shared_devices = true', 'asked');
  const sent = [];
  for (const smokes of ['no', 'yes']) {
    const { page, requests, errors, context } = await open({}, '/', at);
    const [first, second] = [0, 1].map((number) => page.locator('fieldset').nth(number));
    await first.waitFor();
    assert.equal(await second.isVisible(), false, 'hidden until the first is answered');
    await first.getByLabel(smokes, { exact: true }).check();
    assert.equal(await second.isVisible(), smokes === 'yes');
    assert.equal(await second.getByLabel('Not asked').count(), 0, 'nobody chooses it');
    if (smokes === 'yes') await second.getByLabel('many').check();
    await draw(page);
    await picture(page, `asked-${smokes}`);
    await page.locator('#send').click();
    await page.getByText(THANKS).waitFor();
    assert.equal(posts(requests).length, 1);
    sent.push(posts(requests)[0].postDataJSON());
    assert.deepEqual(errors, []);
    await context.close();
  }
  const form = ({ id, response, ...rest }) => [id.length, Object.keys(response), Object.keys(rest)];
  assert.deepEqual(form(sent[0]), form(sent[1]));
  await stop();
});

test('tokens: sealed for the invitation, answered without it', async () => {
  const { at, stop, again, collect, folder } = await survey('invitations = true\nshared_devices = false\ntokens_until = "2999-12-31"');
  const [, link] = collect('invite', folder, '--count', '1', '--base-url', at).trim().split('\n');
  const code = link.split('#')[1];
  const { page, requests, errors, context } = await open({}, `/#${code}`, at);
  await page.locator('.questions').getByText('We cannot find out which invitation').waitFor();
  await picture(page, 'token-first');
  assert.equal(await page.locator('#next').count(), 0, 'nothing is asked yet');
  await page.locator('#token').click();
  await page.locator('#held').waitFor();
  await picture(page, 'token-held');
  assert.equal(posts(requests).length, 1);
  assert.deepEqual(Object.keys(posts(requests)[0].postDataJSON()), ['invitation', 'blinded']);
  const kept = await page.evaluate(() => Object.values({ ...localStorage }).map((text) => JSON.parse(text)));
  assert.deepEqual(kept.map((one) => Object.keys(one)), [['token', 'value']], 'what was blinded and the invitation are forgotten');
  assert.equal(page.url(), `${at}/`, 'so does the address');
  await page.reload();
  await page.locator('#held').waitFor();

  await again('invitations = true\nshared_devices = false\ntokens_until = "2020-01-01"');
  requests.length = 0;
  await page.reload();
  await page.locator('#next').waitFor();
  for (const group of await page.locator('fieldset').all()) await group.getByRole('radio').first().check();
  await draw(page);
  await page.locator('#send').click();
  await page.getByText(THANKS).waitFor();
  const bodies = posts(requests).map((request) => request.postDataJSON());
  assert.deepEqual(bodies.map((body) => Object.keys(body)), [['id', 'token', 'response']]);
  assert.equal(bodies[0].id, kept[0].token);
  assert.ok(!requests.some((request) => `${request.url()} ${request.postData()}`.includes(code)), 'the invitation is in no request');
  assert.ok(requests.every((request) => request.url().startsWith(at)));
  await page.reload();
  await page.getByRole('heading', { name: 'You have answered already' }).waitFor();
  assert.deepEqual(errors, []);
  const other = await open({}, `/#${code}`, at);
  await other.page.getByText('there is none in this browser').waitFor();
  await picture(other.page, 'token-missing');
  await other.context.close();
  await context.close();
  await stop();
});

test('tokens: a saved copy of the page has all it needs', async () => {
  const { at, stop, collect, folder } = await survey('invitations = true\nshared_devices = false\ntokens_until = "2999-12-31"');
  const code = collect('invite', folder, '--count', '1').trim().split('#')[1];
  const file = join(mkdtempSync(join(tmpdir(), 'candor-')), 'survey.html');
  writeFileSync(file, await (await fetch(`${at}/offline.html`)).text());
  const { page, requests, errors, context } = await open({}, '/', at);
  requests.length = 0;
  await page.goto(`file://${file}#${code}`);
  await page.locator('#token').click();
  await page.locator('#held').waitFor();
  assert.ok(requests.every((request) => request.url().startsWith('file://') || request.url() === `${at}/tokens`));
  assert.deepEqual(errors, []);
  await context.close();
  await stop();
});

test('tokens: a reply under another key is not kept', async () => {
  const { at, stop, collect, folder } = await survey('invitations = true\nshared_devices = false\ntokens_until = "2999-12-31"');
  const code = collect('invite', folder, '--count', '1').trim().split('#')[1];
  const { page, context } = await open({}, '/', at);
  await page.route('**/survey.json', async (route) => {
    const given = await (await route.fetch()).json();
    // The base point: a key, but not this one.
    given.tokens.key = 'e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76';
    await route.fulfill({ json: given });
  });
  await page.goto('about:blank');
  await page.goto(`${at}/#${code}`);
  await page.locator('#token').click();
  await page.getByText('was not sealed with the published key').waitFor();
  const kept = await page.evaluate(() => Object.values({ ...localStorage }).map((text) => JSON.parse(text).value));
  assert.deepEqual(kept, [undefined]);
  await context.close();
  await stop();
});

// ---- The guide's check, as it is written there

const guide = readFileSync(new URL('docs/how-to/operate-a-collector.md', repository), 'utf8');
const published = /The page:\s+`([0-9a-f]{64})`/.exec(guide)[1];
const publishedSaved = /A saved page[^`]*`([0-9a-f]{64})`/.exec(guide)[1];
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Opens the survey with one of its files changed on the way; what the page was, and whether what was changed came to run or to be used. */
async function tampered(at, path, change, hash = '') {
  const context = await browser.newContext({ locale: 'en-US' });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.route((url) => url.pathname === path, async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ response: reply, body: change(await reply.text()) });
  });
  const got = await page.goto(`${at}/${hash}`);
  return { context, page, errors, sha256: sha256(await got.body()) };
}

test('the check of the guide: an honest page passes', async () => {
  const { page, context, sha256: found } = await tampered(address, '/nothing', (text) => text);
  await page.locator('#next').waitFor();
  assert.equal(found, published);
  await page.getByText('What happens to your answers').first().click();
  await page.getByText('Check the rules of chance yourself').click();
  assert.ok((await page.locator('.sheet').innerText()).includes(published), 'the page states it, too');
  await context.close();
  const saved = await (await fetch(`${address}/offline.html`)).text();
  const lines = saved.split(/(?<=\n)/).filter((line) => !line.includes('id="candor-survey"'));
  assert.equal(sha256(lines.join('')), publishedSaved);
});

test('the check of the guide catches every changed file', async () => {
  // The page itself: another hash.
  const smuggle = '<script>window.smuggled = true</script>';
  const first = await tampered(address, '/', (text) => text.replace('</body>', `${smuggle}</body>`));
  assert.notEqual(first.sha256, published);
  await first.context.close();
  // A page without the hashes of what it loads: another hash, too.
  const bare = await tampered(address, '/', (text) => text.replace(/ integrity="[^"]*"/g, ''));
  assert.notEqual(bare.sha256, published);
  await bare.context.close();
  // What it loads: the page passes, and the browser runs nothing that was changed.
  for (const path of ['/survey.js', '/style.css']) {
    const { page, context, errors, sha256: found } = await tampered(address, path, (text) => `${text}\nglobalThis.smuggled = true;\n`);
    assert.equal(found, published);
    if (path === '/survey.js') {
      await page.waitForTimeout(1500);
      assert.equal(await page.locator('#next').count(), 0, 'nothing is asked');
      assert.equal(await page.evaluate(() => globalThis.smuggled), undefined);
    } else {
      await page.locator('#next').waitFor();
      assert.equal(await page.evaluate(() => [...document.styleSheets].filter((sheet) => sheet.href).length), 0);
    }
    assert.ok(errors.some((text) => text.includes('integrity')), `${path}: ${errors}`);
    await context.close();
  }
  // The plan: its fingerprint is not that of its contents.
  const plan = await tampered(address, '/plan.json', (text) => text.replace('daily', 'weekly'));
  await plan.page.getByText(/rules|plan/i).first().waitFor();
  assert.equal(await plan.page.locator('#next').count(), 0);
  await plan.context.close();
  // The words: they are shown, and nothing in them runs.
  const words = await tampered(address, '/survey.json', (text) => text.replaceAll('Do you smoke?', "<img src=x onerror='globalThis.smuggled = true'>"));
  await words.page.locator('#next').waitFor();
  assert.equal(await words.page.evaluate(() => globalThis.smuggled), undefined);
  assert.equal(await words.page.locator('img').count(), 0);
  await words.context.close();
});

test('the check of the guide catches a changed part for tokens', async () => {
  const { at, stop, collect, folder } = await survey('invitations = true\nshared_devices = false\ntokens_until = "2999-12-31"');
  const code = collect('invite', folder, '--count', '1').trim().split('#')[1];
  const { page, context, errors, sha256: found } = await tampered(at, '/tokens.js', (text) => `${text}\nglobalThis.smuggled = true;\n`, `#${code}`);
  assert.equal(found, published);
  await page.locator('#token').click();
  await page.waitForTimeout(1000);
  assert.equal(await page.evaluate(() => globalThis.smuggled), undefined);
  assert.equal(await page.locator('#held').count(), 0, 'no token');
  assert.ok(errors.some((text) => text.includes('integrity')), `${errors}`);
  await context.close();
  await stop();
});

test('everybody sees closed batches, and nothing more', async () => {
  const { at, stop, collect, folder, again } = await survey('public_results = 20\ncolluding = 5');
  const { page, context, errors } = await open({}, '/', at);
  const send = (n) => page.evaluate(async (n) => {
    const { answer, readPlan } = await import('/client.js');
    const plan = await readPlan(await (await fetch('/plan.json')).text());
    for (let i = 0; i < n; i++) {
      const body = JSON.stringify({ id: (await (await fetch('/id')).json()).id, response: answer(plan, { region: i % 2 ? 'north' : 'south', answer: 'yes' }) });
      if ((await fetch('/responses', { method: 'POST', body })).status !== 201) throw new Error('refused');
    }
  }, n);
  await page.goto(`${at}/results`);
  await page.getByText('0 responses in 0 closed batches so far').waitFor();
  await page.goto(at);
  await send(60);
  assert.equal((await (await fetch(`${at}/public.json`)).json()).responses, 0, 'no response closes a batch');
  collect('close', folder);
  await again('public_results = 20\ncolluding = 5');
  await page.goto(`${at}/results`);
  await page.getByText('60 responses in 1 closed batch').waitFor();
  await page.getByText('What these numbers tell').click();
  await page.getByText('the 30 responses as they are published').waitFor();
  await picture(page, 'public-results');
  assert.equal(await page.getByRole('button').count(), 0, 'the data are for who has the token');
  assert.equal(await page.locator('.days').count(), 0);
  assert.deepEqual(errors, []);
  await context.close();
  await stop();
});

test('a page that does not exist is told to people in words', async () => {
  const { page, context } = await open({}, '/nowhere');
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  await page.getByRole('link', { name: 'To the survey' }).waitFor();
  await picture(page, 'not-found');
  await accessible(page, '404');
  await context.close();
  // In a language of the survey, if there is one that the browser prefers.
  for (const [locale, language, title] of [['de-CH', 'de', 'Diese Seite gibt es nicht'], ['es', 'en', 'This page does not exist']]) {
    const other = await open({ locale }, '/nowhere');
    assert.equal(await other.page.locator('h1').innerText(), title);
    assert.equal(await other.page.evaluate(() => document.documentElement.lang), language);
    await other.context.close();
  }
});

test('a number that the survey did not hand out is replaced, and the response sent once', async () => {
  const before = await stored();
  const { page, requests, context } = await open();
  await page.locator('#next').waitFor();
  await fill(page);
  await draw(page);
  // A page that was changed, or a survey that lost its key.
  await page.evaluate(() => Object.keys(localStorage).forEach((key) => localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), id: '0'.repeat(32) }))));
  await page.reload();
  await page.locator('#send').click();
  await page.getByText('did not hand out that id').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(THANKS).waitFor();
  assert.equal(posts(requests).length, 2);
  assert.equal(await stored(), before + 1);
  await context.close();
});
