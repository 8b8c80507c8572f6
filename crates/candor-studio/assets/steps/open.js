// Step 1: a table, or questions that are written.

import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { button, check, field, heading, icon, link, progress, steps } from '../parts.js';
import { time } from '../numbers.js';
import { count, several, t } from '../words.js';

/** @typedef {import('../main.js').Page} Page */

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const working = h('div', {});
  const parts = [...heading(t('open.title'), t('open.lead')), h('div', { class: 'start' }, drop(page, working), questions(page)), working];
  if (page.state) {
    fill(main, parts, opened(page), steps(page, 'open', next(page)));
  } else {
    const { studies, folder } = await api.studies();
    fill(main, parts, recent(page, studies, folder));
  }
}

/** @param {Page} page */
function next({ state }) {
  const ready = state.data !== null || state.columns.length > 0;
  return { text: state.data ? t('open.next') : t('open.next_questions'), ready: ready || !state.data };
}

/**
 * @param {Page} page
 * @param {HTMLElement} working
 */
function drop(page, working) {
  const input = h('input', { type: 'file', id: 'file', class: 'unseen', accept: '.csv,.gz,.tsv,.txt,.parquet', 'aria-label': t('open.choose'),
    onchange: () => input.files?.[0] && void take(page, working, input.files[0]) });
  const area = h('section', { class: 'drop', 'aria-labelledby': 'drop-title' }, icon('upload'), h('h2', { id: 'drop-title' }, t('open.drop')),
    h('p', {}, t('open.kinds')), input, button(t('open.choose'), () => input.click(), { kind: 'primary', id: 'choose' }));
  area.addEventListener('dragover', (event) => { event.preventDefault(); area.classList.add('over'); });
  area.addEventListener('dragleave', () => area.classList.remove('over'));
  area.addEventListener('drop', (event) => {
    event.preventDefault();
    area.classList.remove('over');
    const file = event.dataTransfer?.files[0];
    if (file) void take(page, working, file);
  });
  return area;
}

/**
 * @param {Page} page
 * @param {HTMLElement} working
 * @param {File} file
 */
async function take(page, working, file) {
  page.clear();
  const connection = new AbortController();
  const stop = async () => {
    await api.stopArriving().catch(() => null);
    connection.abort();
  };
  const end = progress(working, t('open.reading', { file: file.name }), api.arriving, () => void stop());
  try {
    const { name } = await api.upload(file, connection.signal);
    page.enter(name);
    page.say(t('open.is_read', { file: file.name }));
  } catch (error) {
    page.fail(error);
  } finally {
    end();
  }
}

/** @param {Page} page */
function questions(page) {
  const begin = async () => {
    try {
      const { name } = await api.create(t('open.new_name'));
      page.enter(name, 'columns');
    } catch (error) {
      page.fail(error);
    }
  };
  return h('section', { class: 'card', 'aria-labelledby': 'write-title' }, h('h2', { id: 'write-title' }, t('open.write')), h('p', {}, t('open.write_text')),
    link(t('open.write'), begin, { id: 'write' }));
}

/**
 * @param {Page} page
 * @param {{name: string, changed: number}[]} studies
 * @param {string} folder
 */
function recent(page, studies, folder) {
  if (!studies.length) return h('p', { class: 'quiet' }, t('open.no_recent', { folder }));
  const item = (/** @type {{name: string, changed: number}} */ { name, changed }) =>
    h('li', {}, button(name, () => page.enter(name), { kind: 'quiet' }), ' ', h('small', {}, time(changed)));
  return h('section', { 'aria-labelledby': 'recent' }, h('h2', { id: 'recent' }, t('open.recent')), h('ul', { class: 'plain' }, studies.map(item)),
    h('p', { class: 'quiet' }, t('open.where', { folder })));
}

/** @param {Page} page */
function opened(page) {
  const { state } = page;
  const name = h('div', { class: 'row' }, field(t('open.name'), 'title', state.title, (title) => page.edit({ do: 'title', title })));
  return [h('h2', {}, state.study.data ?? t('open.questions')), name, table(state), looked(page)];
}

/** @param {api.State} state */
function table({ data }) {
  if (!data) return null;
  const shown = data.columns.slice(0, 9);
  const more = data.columns.length - shown.length;
  const cells = (/** @type {string[]} */ row) => [...row.slice(0, 9).map((text) => h('td', {}, text === '' ? '–' : text.slice(0, 18))), more > 0 && h('td', {}, '…')];
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('open.first_rows') },
    h('table', { class: 'mono' },
      h('caption', {}, t('open.size', { rows: count(data.rows), columns: count(data.columns.length) })),
      h('thead', {}, h('tr', {}, shown.map((name) => h('th', { scope: 'col' }, name || t('open.no_name'))), more > 0 && h('th', { scope: 'col' }, several('open.more', more)))),
      h('tbody', {}, data.first.map((row) => h('tr', {}, cells(row))))));
}

/** @param {Page} page */
function looked(page) {
  const { columns, study, data } = page.state;
  if (!data) return null;
  const of = (/** @type {string} */ kind) => columns.filter(({ summary, role }) => role === 'out' && summary?.kind === kind).map(({ name }) => name || t('open.no_name'));
  const list = (/** @type {string[]} */ names) => (names.length > 5 ? t('open.and_more', { names: names.slice(0, 4).join(', '), n: names.length - 4 }) : names.join(', '));
  const missing = columns.filter(({ summary }) => summary && summary.missing > 0).length;
  const numbers = of('numbers');
  /** @type {[string, 'good' | 'warn'][]} */
  const kinds = [['row-numbers', 'good'], ['constant', 'good'], ['texts', 'warn'], ['unreadable', 'warn']];
  const items = kinds.filter(([kind]) => of(kind).length).map(([kind, sign]) =>
    check(sign, [h('strong', {}, t(`open.is_${kind.replace('-', '_')}`, { names: list(of(kind)) })), ` ${t('open.left_out')}`]));
  if (numbers.length) items.push(check('warn', [h('strong', {}, t('open.is_numbers', { names: list(numbers) })), ` ${t('open.needs_groups')}`]));
  if (missing) items.push(check('good', [h('strong', {}, several('open.missing', missing)), ` ${t('open.no_answer')}`]));
  const words = field(t('open.words'), 'missing', study.missing?.join(', ') ?? '', async (text) => {
    const all = text.split(',').map((word) => word.trim()).filter(Boolean);
    await page.change('missing', { words: text.trim() ? all : null });
  }, { hint: t('open.words_hint') });
  return [h('h2', {}, t('open.looked')), items.length ? h('ul', { class: 'checks' }, items) : h('p', {}, t('open.fine')),
    !page.state.locked && h('div', { class: 'row' }, words)];
}
