// The dashboard: the token stands in the address behind #, and is sent as a header only. Without one, what is public.
const token = location.hash.slice(1);
const state = document.getElementById('state');
const results = document.getElementById('results');

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) typeof value === 'function' ? made.addEventListener(name, value) : made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const number = (n) => Math.ceil(n).toLocaleString('en');
const table = (caption, header, rows) => element('div', { class: 'scroll' }, element('table', {}, element('caption', {}, caption),
  element('tr', {}, ...header.map((title, i) => element('th', { scope: 'col', class: i ? 'number' : '' }, title))), ...rows));
const cell = (content, kind = '') => element('td', kind ? { class: kind } : {}, content);

/** The interval, drawn from 0 to 1. */
function interval({ estimate, low, high }) {
  const clamp = (share) => Math.min(1, Math.max(0, share));
  const bar = element('div', { class: 'interval', role: 'img', 'aria-label': `${percent(low)} to ${percent(high)}` });
  const [span, mark] = [element('span'), element('i')];
  span.style.left = `${100 * clamp(low)}%`;
  span.style.width = `${100 * (clamp(high) - clamp(low))}%`;
  mark.style.left = `calc(${100 * clamp(estimate)}% - .1rem)`;
  bar.append(span, mark);
  return bar;
}

/** What a category is called: as on the survey page, or as it is. */
const called = (questions, attribute, category) => questions[attribute]?.answers?.[category] ?? (category || '(missing)');

/** A question alone stands above its answers as it was asked. */
const titled = (questions, attributes) => attributes.length === 1 && questions[attributes[0]] ? `${attributes[0]}: ${questions[attributes[0]].text}` : attributes.join(' × ');

function estimates(questions, { attributes, cells, reason }) {
  if (reason) return element('p', {}, `${attributes.join(' × ')}: ${reason}`);
  const name = (one) => one.categories.map((category, i) => called(questions, attributes[i], category)).join(' × ');
  const rows = cells.map((one) => element('tr', {}, element('th', { scope: 'row' }, name(one)), cell(percent(one.estimate), 'number'),
    cell(`${percent(one.low)} to ${percent(one.high)}`, 'number'), cell(interval(one))));
  return table(titled(questions, attributes), ['', 'share', '95 % interval', ''], rows);
}

function progress({ attributes, respondents, reason }, responses) {
  if (reason) return element('p', {}, `${attributes.join(' × ')}: ${reason}`);
  const bar = element('progress', { max: String(respondents), value: String(Math.min(responses, respondents)), 'aria-label': attributes.join(' × ') });
  return element('label', {}, `${attributes.join(' × ')}: ${number(responses)} of ${number(respondents)} respondents`, bar);
}

function draw(data) {
  const one = data.estimates.tables.filter((t) => t.attributes.length === 1);
  const pairs = data.estimates.tables.filter((t) => t.attributes.length > 1);
  const open = new Set([...document.querySelectorAll('details[open]')].map((details) => details.id));
  const dependences = data.dependences.map(({ attributes, cramers_v: v, p_value: p, reason }) => element('tr', {}, element('th', { scope: 'row' }, attributes.join(' × ')),
    cell(reason ?? v.toFixed(3), 'number'), cell(reason ? '' : p.toPrecision(2), 'number')));
  const shown = (table) => estimates(data.questions, table);
  const fold = (id, title, ...content) => element('details', { id, ...(open.has(id) && { open: '' }) }, element('summary', {}, title), ...content);
  results.replaceChildren(
    ...data.privacy.map((sentence) => element('p', {}, sentence)),
    ...data.cautions.map((caution) => element('p', { class: 'wrong' }, caution)),
    ...(token ? [element('h2', {}, 'Responses by day'),
    table('', ['day', 'responses'], data.days.map(([day, n]) => element('tr', {}, element('th', { scope: 'row' }, day), cell(number(n), 'number')))),
    element('h2', {}, `Progress to intervals of ± ${percent(data.margin)}`),
    ...data.needed.map((size) => progress(size, data.responses))] : []),
    element('h2', {}, 'Estimates'), element('p', {}, data.summary), ...one.map(shown),
    fold('dependences', `Dependences (${dependences.length})`, table("Cramer's V, corrected for the randomization", ['pair', 'V', 'p'], dependences)),
    fold('pairs', `Cross-tabs (${pairs.length})`, ...pairs.map(shown)),
    ...(token ? [element('section', { class: 'buttons' }, element('h2', {}, 'Report and data'), element('button', { type: 'button', click: () => download('/report.html', 'report.html') }, 'Download the report'),
      element('button', { type: 'button', click: () => download('/responses.jsonl', 'responses.jsonl') }, 'Download all responses (JSON lines)'))] : []));
}

const get = (path) => fetch(path, { headers: token ? { authorization: `Bearer ${token}` } : {}, cache: 'no-store', credentials: 'omit' });

async function download(path, name) {
  const reply = await get(path);
  if (!reply.ok) return void (state.textContent = (await reply.json()).detail);
  const link = element('a', { href: URL.createObjectURL(await reply.blob()), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function update() {
  try {
    const reply = await get(token ? '/results.json' : '/public.json');
    const data = await reply.json();
    if (!reply.ok) throw new Error(data.detail);
    const what = token ? `${number(data.responses)} responses${data.closed ? '; the survey is closed' : ''}` : `${number(data.responses)} responses in ${number(data.batches)} closed ${data.batches === 1 ? 'batch' : 'batches'}`;
    state.textContent = `${what}. This page updates by itself.`;
    document.title = `Results: ${data.title}`;
    document.getElementById('title').textContent = data.title;
    if (data.responses) draw(data);
    else results.replaceChildren(...data.privacy.map((sentence) => element('p', {}, sentence)));
  } catch (error) {
    state.textContent = `No results: ${error.message}`;
  }
  setTimeout(update, 5000);
}

await update();
