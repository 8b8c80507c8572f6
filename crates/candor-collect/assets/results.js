// The dashboard: the token stands in the address behind #, and is sent as a header only. Without one, what is public.
const token = location.hash.slice(1);
const at = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) typeof value === 'function' ? made.addEventListener(name, value) : made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const number = (n) => Math.ceil(n).toLocaleString('en');
const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
const clamp = (share) => Math.min(1, Math.max(0, share));
const table = (caption, header, rows) => element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, element('table', {}, element('caption', {}, caption),
  element('thead', {}, element('tr', {}, ...header.map((title, i) => element('th', { scope: 'col', class: i ? 'number' : '' }, title)))), element('tbody', {}, ...rows)));
const cell = (content, kind = '') => element('td', kind ? { class: kind } : {}, content);

/** What a category is called: as on the survey page, or as it is. */
const called = (questions, attribute, category) => questions[attribute]?.answers?.[category] ?? (category || 'No answer');
/** A question stands as it was asked. */
const asked = (questions, attribute) => questions[attribute]?.text ?? attribute;

/** Whole percent, with a decimal only where all margins of a table are below one point. */
const decimals = (cells) => (cells.length && cells.every(({ low, high }) => 50 * (clamp(high) - clamp(low)) < 1) ? 1 : 0);
/** A day of the calendar, in words. */
const dated = (day) => new Date(`${day}T00:00Z`).toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}%`;

/** A share as it may be published: in full, gray, as an upper limit only, or not at all. */
function published({ shown_estimate: share, low, high, reliability }, digits) {
  const margin = `±${(50 * (clamp(high) - clamp(low))).toFixed(1)}`;
  switch (reliability) {
    case 'shown': case 'rough': return { kind: reliability, value: percent(share, digits), margin };
    case 'under': return { kind: 'under', value: `≤ ${Math.ceil(100 * clamp(high) - 1e-9)}%`, margin: '' };
    default: return { kind: 'hidden', value: '–', margin: '' };
  }
}

/** One axis for all questions: from 0 to the next multiple of 20 above the largest upper end. */
const axisEnd = (tables) => Math.min(100, 20 * Math.ceil(5 * Math.max(0.01, ...tables.flatMap(({ cells }) => cells.filter(({ reliability }) => reliability !== 'hidden').map(({ high }) => clamp(high)))) - 1e-9));

function row(name, one, end, digits) {
  const { kind, value, margin } = published(one, digits);
  const x = (share) => `${(10000 * clamp(share)) / end}%`;
  const grid = Array.from({ length: end / 20 + 1 }, (_, i) => drawing('line', { class: 'grid', x1: `${(2000 * i) / end}%`, x2: `${(2000 * i) / end}%`, y1: 0, y2: 34 }));
  const interval = kind === 'hidden' ? [] : [drawing('line', { class: 'interval', x1: x(one.low), x2: x(one.high), y1: 17, y2: 17 })];
  const point = kind === 'shown' || kind === 'rough' ? [drawing('circle', { class: 'point', cx: x(one.shown_estimate), cy: 17, r: 5.5 })] : [];
  const between = kind === 'hidden' ? 'too imprecise to show' : `from ${percent(clamp(one.low), 1)} to ${percent(clamp(one.high), 1)}`;
  return element('div', { class: kind, role: 'row' }, element('span', { class: 'name', role: 'rowheader' }, name),
    element('span', { class: 'picture', role: 'cell' }, drawing('svg', { role: 'img', 'aria-label': between }, ...grid, ...interval, ...point)),
    element('span', { class: 'value', role: 'cell' }, value), element('span', { class: 'margin', role: 'cell' }, margin));
}

/** A question alone: its answers with their intervals. */
function oneWay(questions, { attributes, cells, reason }, end) {
  const title = element('h3', {}, asked(questions, attributes[0]));
  if (reason) return element('section', {}, title, element('p', {}, reason));
  const digits = decimals(cells);
  const rows = cells.map((one) => row(called(questions, attributes[0], one.categories[0]), one, end, digits));
  const ticks = drawing('svg', { 'aria-hidden': 'true' }, ...Array.from({ length: end / 20 + 1 }, (_, i) => drawing('text', { x: `${(2000 * i) / end}%`, y: 28, 'text-anchor': i ? (i === end / 20 ? 'end' : 'middle') : 'start' }, `${20 * i}%`)));
  const axis = element('div', { 'aria-hidden': 'true' }, element('span', { class: 'name' }), element('span', { class: 'picture axis' }, ticks), element('span', {}), element('span', {}));
  return element('section', {}, title, element('div', { class: 'cells', role: 'table', 'aria-label': asked(questions, attributes[0]) }, axis, ...rows));
}

/** Two questions together. A table of which more than half is too imprecise is a sentence. */
function cross(questions, { attributes, cells, reason }) {
  const title = attributes.map((attribute) => asked(questions, attribute)).join(' × ');
  if (reason) return element('p', {}, `${title}: ${reason}`);
  const hidden = cells.filter(({ reliability }) => reliability === 'hidden').length;
  if (2 * hidden > cells.length) return element('p', {}, `${title}: ${hidden} of ${cells.length} cells are too imprecise to show.`);
  const digits = decimals(cells);
  const rows = cells.map((one) => {
    const { kind, value, margin } = published(one, digits);
    const name = one.categories.map((category, i) => called(questions, attributes[i], category)).join(' × ');
    return element('tr', {}, element('th', { scope: 'row' }, name), cell(value, `number ${kind}`), cell(margin, 'number'));
  });
  return table(title, ['answers', 'of everybody', 'margin'], rows);
}

/** How far a question is from the margin that is aimed at. */
function progress(questions, { attributes, respondents, reason }, responses) {
  const name = asked(questions, attributes[0]);
  if (reason) return element('p', {}, `${name}: ${reason}`);
  const left = Math.max(0, Math.ceil(respondents) - responses);
  const bar = element('progress', { max: String(respondents), value: String(Math.min(responses, respondents)), 'aria-label': name });
  return element('div', {}, element('div', { class: 'top' }, element('span', {}, name), element('span', { class: 'small' }, left ? `${number(left)} more` : 'reached')), bar);
}

/** Responses by day, at most the last thirty. */
function daily(days) {
  const last = days.slice(-30);
  const most = Math.max(1, ...last.map(([, n]) => n));
  const [width, gap] = [600 / Math.max(10, last.length), 6];
  const bars = last.map(([day, n], i) => drawing('g', {}, drawing('title', {}, `${day}: ${n}`), drawing('rect', { x: i * width, y: 120 - (100 * n) / most, width: width - gap, height: (100 * n) / most, rx: 2 })));
  const ends = last.length ? [drawing('text', { x: 0, y: 138 }, dated(last[0][0])), ...(last.length > 1 ? [drawing('text', { x: last.length * width - gap, y: 138, 'text-anchor': 'end' }, dated(last.at(-1)[0]))] : [])] : [];
  const name = last.map(([day, n]) => `${day}: ${n}`).join(', ');
  return drawing('svg', { class: 'days', viewBox: '0 0 600 145', role: 'img', 'aria-label': `Responses by day: ${name}` }, drawing('line', { x1: 0, x2: 600, y1: 120, y2: 120 }), ...bars, ...ends);
}

/** What the numbers above count, and what they do not count yet. */
function explained(data) {
  if (!token) return `${count(data.responses, 'response')} in ${count(data.batches, 'closed batch', 'closed batches')} so far. Later responses are counted once their batch is closed, at the end of a day (UTC); how many they are is not shown.`;
  const waits = data.waiting ? ` ${number(data.waiting)} of them still ${data.waiting === 1 ? 'waits' : 'wait'} for a batch: ${data.waiting === 1 ? 'it is' : 'they are'} in the download once the batch is full or the survey is closed.` : '';
  return `${count(data.responses, 'response')}, all of them counted below.${waits}`;
}

function draw(data) {
  const one = data.estimates.tables.filter((t) => t.attributes.length === 1);
  const pairs = data.estimates.tables.filter((t) => t.attributes.length > 1);
  const open = new Set([...document.querySelectorAll('details[open]')].map((details) => details.id));
  const { questions } = data;
  const end = axisEnd(one);
  const names = (attributes) => attributes.map((attribute) => asked(questions, attribute)).join(' × ');
  const p = (value) => (value < 0.001 ? '< 0.001' : value.toPrecision(2));
  const dependences = data.dependences.map(({ attributes, cramers_v: v, p_value: chance, reason }) => element('tr', {}, element('th', { scope: 'row' }, names(attributes)),
    cell(reason ?? v.toFixed(2), 'number'), cell(reason ? '' : p(chance), 'number')));
  const fold = (id, title, ...content) => element('details', { id, ...(open.has(id) && { open: '' }) }, element('summary', {}, title), ...content);
  const running = token ? [element('div', { class: 'two' },
    element('section', {}, element('h2', {}, 'Responses'), element('p', { class: 'count' }, number(data.responses)), element('p', { class: 'small' }, explained(data)), daily(data.days)),
    element('section', {}, element('h2', {}, `To ±${Number((100 * data.margin).toPrecision(2))} points for every answer`), ...data.needed.map((size) => progress(questions, size, data.responses))))] : [];
  const warnings = token && !data.closed ? [element('div', { class: 'note caution' }, element('p', {}, element('strong', {}, 'Do not publish these yet. '), 'Two versions of this page differ by a few people, and the difference reveals something about them.'))] : [];
  at('results').replaceChildren(
    ...data.cautions.map((caution) => element('div', { class: 'note caution' }, element('p', {}, `${caution.charAt(0).toUpperCase()}${caution.slice(1)}.`))),
    ...running,
    element('h2', {}, token ? 'Estimates so far' : 'Estimates'), ...warnings,
    element('p', { class: 'small' }, `Percent of the population with 95% confidence intervals; ± is the margin of error, half of one. Gray: less precise. “≤”: only an upper limit is precise enough. A dash: too imprecise to show.`),
    ...one.map((t) => oneWay(questions, t, end)),
    fold('pairs', `Two questions together (${pairs.length})`, ...pairs.map((t) => cross(questions, t))),
    fold('dependences', `Associations (${dependences.length})`, table('Cramér’s V, from 0 (independent) to 1, corrected for the randomization', ['questions', 'V', 'p'], dependences)),
    fold('privacy', 'What these numbers tell about a person', ...data.privacy.map((sentence) => element('p', {}, sentence))));
}

const get = (path) => fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {}, cache: 'no-store', credentials: 'omit' });

async function download(path, name) {
  const reply = await get(path);
  if (!reply.ok) return void (at('state').textContent = (await reply.json()).detail);
  const link = element('a', { href: URL.createObjectURL(await reply.blob()), download: name });
  link.click();
  return URL.revokeObjectURL(link.href);
}

/** The number is spoken at most once a minute. */
let spoken = { when: -Infinity, text: '' };
function speak(text) {
  if (text === spoken.text || performance.now() - spoken.when < 60_000) return;
  spoken = { when: performance.now(), text };
  at('live').textContent = text;
}

async function update() {
  try {
    const reply = await get(token ? '/results.json' : '/public.json');
    const data = await reply.json();
    if (!reply.ok) throw new Error(!token && reply.status === 404 ? 'this address is not complete. The program printed it when it started, with # and a token at its end.' : data.detail);
    document.title = `Results: ${data.title}`;
    at('title').textContent = data.title;
    at('open').textContent = !token ? '' : data.closed ? 'Closed' : 'Open';
    if (token && data.responses && !at('buttons').childElementCount) {
      const press = (path, name, text) => element('button', { type: 'button', class: 'secondary', click: () => download(path, name) }, text);
      at('buttons').append(press('/report.html', 'report.html', 'Download report'), press('/responses.jsonl', 'responses.jsonl', 'Download responses'));
    }
    at('state').textContent = token && data.responses ? 'This page updates by itself.' : `${explained(data)} This page updates by itself.`;
    speak(count(data.responses, 'response'));
    if (data.responses) draw(data);
    else at('results').replaceChildren(...data.privacy.map((sentence) => element('p', {}, sentence)));
  } catch (error) {
    at('state').textContent = `No results: ${error.message}`;
  }
  setTimeout(update, 5000);
}

await update();
