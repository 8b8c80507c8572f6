// Step 7: what the answers tell. Cells that are too imprecise are gray or left out by the rule of the reports.

import { fill, h } from '../dom.js';
import { button, choice, heading, notice, progress, select, steps, verdict } from '../parts.js';
import { axisTicks, interval } from '../chart.js';
import { cell as shown, difference as points, margin, percent, pValue } from '../numbers.js';
import { count, several, t } from '../words.js';
import { asked } from './columns.js';
import { modelForm, modelName, tableName } from './tables.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {import('../api.js').Table} Table */
/** @typedef {import('../api.js').Cell} Cell */
/** @typedef {import('../api.js').Wanted} Wanted */
/** @typedef {{respondents: number, verdict: string | null, verdict_text: string | null, tables: Table[], numbers?: {attribute: string, mean: {estimate: number, low: number, high: number} | null, reason: string | null}[], implausible?: string[]}} Estimates */

let chosen = 0;
let view = 'plot';
let search = '';
/** The groups that are looked for in a long table. */
let group_search = '';

/** With more groups than this, they can be searched. */
const MANY = 12;
/** @type {{column: number, down: boolean} | null} */
let sorted = null;
/** @type {Estimates | null} */
let found = null;
let of = '';

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const { state } = page;
  const head = heading(t('results.title'), t('results.lead'));
  if (!state.collect.responses) {
    fill(main, ...head, notice('plain', t('results.none')), steps(page, 'results', null));
    return;
  }
  const { study } = state;
  const key = JSON.stringify([state.name, study.tables, study.means, study.sample, study.only, state.collect.draws.length]);
  if (key !== of || !found) {
    if (!found) fill(main, ...head);
    const working = h('div', {});
    main.append(working);
    const end = progress(working, t('results.counting'), () => page.ask('task'), () => void page.ask('stop'));
    try {
      found = await page.ask('estimates');
      of = key;
    } catch (error) {
      fill(main, ...head, who(page), steps(page, 'results', null));
      page.fail(error);
      return;
    } finally {
      end();
    }
  }
  show(main, page);
}

/** @param {Page} page */
function who(page) {
  const { state } = page;
  const open = state.columns.filter(({ role }) => role === 'public');
  const all = open.flatMap(({ name, attribute }) => (attribute?.labels ?? []).map((label) => /** @type {[string, string]} */ ([JSON.stringify([name, label]), `${asked(page, name)}: ${label}`])));
  const only = state.study.only ? JSON.stringify(state.study.only) : '';
  const kept = state.collect.draws.at(-1)?.kept ?? [];
  const columns = /** @type {[string, string][]} */ ([['', t('collect.none')], ...kept.map((name) => [name, name])]);
  const sample = (/** @type {'weights' | 'strata' | 'psu'} */ name) => kept.length > 0 && select(t(`collect.${name}`), name, columns, state.study.sample[name] ?? '',
    (value) => page.edit((now) => ({ do: 'sample', sample: { ...now.study.sample, [name]: value || null } })));
  return h('div', { class: 'row' }, all.length > 0 && select(t('results.who'), 'only', [['', t('results.everybody')], ...all], only, (text) => page.edit({ do: 'only', only: text ? JSON.parse(text) : null })),
    ['weights', 'strata', 'psu'].map((name) => sample(/** @type {'weights'} */ (name))));
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
function show(main, page) {
  if (!found) return;
  const { tables } = found;
  chosen = Math.min(chosen, tables.length);
  const wanted = (/** @type {Table} */ { attributes }) => ({ of: attributes[attributes.length - 1], by: attributes.slice(0, -1) });
  const matches = tables.map((table, at) => ({ name: tableName(page, wanted(table)), table, at })).filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const find = tables.length > 12 && h('label', { class: 'field' }, h('span', {}, t('results.find')), h('input', { type: 'text', id: 'find', value: search, autocomplete: 'off',
    oninput: (/** @type {Event} */ event) => { search = /** @type {HTMLInputElement} */ (event.target).value; show(main, page); } }));
  const pick = (/** @type {number} */ at) => () => {
    chosen = at;
    [sorted, group_search] = [null, ''];
    show(main, page);
  };
  const item = (/** @type {typeof matches[0]} */ { name, table, at }) => h('li', {}, h('button', { type: 'button', class: at === chosen ? 'pick chosen' : 'pick', 'aria-pressed': String(at === chosen), id: `table-${at}`, onclick: pick(at) }, h('strong', {}, name), state(table)));
  const regress = h('li', {}, h('button', { type: 'button', class: chosen === tables.length ? 'pick chosen' : 'pick', 'aria-pressed': String(chosen === tables.length), id: 'regression', onclick: pick(tables.length) }, h('strong', {}, t('results.regression'))));
  const table = tables[chosen];
  const grade = tables.every(precise) ? 'good' : 'warn';
  fill(main, ...heading(t('results.title'), several('results.answers', found.respondents)), who(page),
    (found.implausible ?? []).length > 0 && notice('bad', t('results.implausible')),
    found.verdict_text && notice(grade, found.verdict_text),
    h('div', { class: 'results' }, h('div', {}, find, h('ul', { class: 'picks' }, matches.map(item), regress), numbers(page)),
      h('section', { 'aria-live': 'off', id: 'table' }, table ? one(main, page, table, wanted(table)) : regression(page))),
    steps(page, 'results', { text: t('results.next') }));
}

/**
 * Whether nothing of a table is rough or hidden.
 * @param {Table} table
 */
const precise = ({ cells, reason }) => !reason && cells.every(({ reliability }) => reliability === 'shown' || reliability === 'under');

/**
 * How much of a table is precise enough.
 * @param {Table} table
 */
function state({ cells, reason }) {
  if (reason) return h('span', { class: 'verdict bad' }, t('results.cannot'));
  const hidden = cells.filter(({ reliability }) => reliability === 'hidden').length;
  if (!hidden) return cells.some(({ reliability }) => reliability === 'rough') ? verdict('rough') : verdict('good');
  return h('span', { class: 'verdict warn' }, t('results.hidden', { n: hidden, of: cells.length }));
}

/** @param {Page} page */
function numbers(page) {
  if (!found?.numbers?.length) return null;
  return [h('h2', {}, t('tables.means')), h('ul', { class: 'plain' }, found.numbers.map(({ attribute, mean, reason }) => h('li', {}, `${asked(page, attribute)}: `,
    mean ? h('strong', {}, `${mean.estimate.toPrecision(3)} (${mean.low.toPrecision(3)} – ${mean.high.toPrecision(3)})`) : reason ?? '–')))];
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {Table} table
 * @param {Wanted} wanted
 */
function one(main, page, table, wanted) {
  const views = /** @type {[string, string][]} */ ([['plot', t('results.plot')], ['table', t('results.table')], ...(wanted.by.length === 1 ? [['differences', t('results.differences')]] : [])]);
  if (!views.some(([name]) => name === view)) view = 'plot';
  const place = h('div', {});
  const body = table.reason ? notice('warn', table.reason.replaceAll('`', '')) : view === 'plot' ? plot(page, table) : view === 'table' ? rows(main, page, table) : place;
  if (view === 'differences' && !table.reason) void differences(page, wanted, place);
  return [h('h2', {}, tableName(page, wanted)), choice(t('results.view'), 'view', views, view, (value) => { view = value; show(main, page); }), body,
    h('p', { class: 'hint' }, t(view === 'differences' ? 'results.how_differences' : 'results.how'))];
}

/**
 * What an answer is called.
 * @param {Page} page
 * @param {string} name
 * @param {string} label
 */
const called = (page, name, label) => page.state.texts.en?.questions?.[name]?.answers?.[label] ?? (label || t('column.no_answer'));

/**
 * The answers of a table's question, each with its cells in all groups.
 * @param {Table} table
 */
function answers({ attributes, cells }) {
  const last = attributes.length - 1;
  const labels = [...new Set(cells.map(({ categories }) => categories[last]))];
  return labels.map((label) => ({ label, cells: cells.filter(({ categories }) => categories[last] === label) }));
}

/**
 * @param {Page} page
 * @param {Table} table
 */
function plot(page, table) {
  const { attributes, cells } = table;
  const name = attributes[attributes.length - 1];
  const end = Math.min(1, Math.ceil(5 * Math.max(0.05, ...cells.filter(({ shown_estimate: s }) => s !== null).map(({ high }) => high ?? 0))) / 5);
  const axis = h('div', { class: 'dots axis', 'aria-hidden': 'true' }, h('span', {}), h('span', { class: 'ticks' }, axisTicks(end).map((at) => h('span', { style: { left: `${(100 * at) / end}%` } }, percent(at)))), h('span', {}));
  const row = (/** @type {Cell} */ cell) => {
    const { text, margin: wide, rough } = shown(cell);
    const label = attributes.length > 1 ? cell.categories.slice(0, -1).map((one, at) => called(page, attributes[at], one)).join(', ') : called(page, name, cell.categories[0]);
    return h('li', { class: `dots ${rough ? 'rough' : ''}` }, h('span', {}, label), interval(cell, end), h('span', { class: 'number' }, h('strong', {}, text), ' ', h('span', { class: 'quiet' }, wide)));
  };
  if (attributes.length === 1) return [axis, h('ul', { class: 'plot' }, cells.map(row))];
  return answers(table).map(({ label, cells: own }) => [h('h3', {}, called(page, name, label)), axis.cloneNode(true), h('ul', { class: 'plot' }, own.map(row))]);
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {Table} table
 */
function rows(main, page, table) {
  const { attributes, cells } = table;
  const name = attributes[attributes.length - 1];
  const labels = answers(table).map(({ label }) => label);
  /** @type {Map<string, Cell[]>} */
  const groups = new Map();
  for (const cell of cells) {
    const key = cell.categories.slice(0, -1).map((one, at) => called(page, attributes[at], one)).join(', ') || t('results.everybody');
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  const many = groups.size > MANY;
  const all = [...groups].filter(([group]) => !many || group.toLowerCase().includes(group_search.toLowerCase()));
  const find = many && h('label', { class: 'field' }, h('span', {}, t('results.find_group')), h('input', { type: 'text', id: 'find-group', value: group_search, autocomplete: 'off',
    oninput: (/** @type {Event} */ event) => { group_search = /** @type {HTMLInputElement} */ (event.target).value; show(main, page); } }));
  if (sorted) {
    const { column, down } = sorted;
    all.sort(([a, x], [b, y]) => (down ? -1 : 1) * (column === 0 ? a.localeCompare(b) : (x[column - 1].shown_estimate ?? -1) - (y[column - 1].shown_estimate ?? -1)));
  }
  const head = (/** @type {string} */ text, /** @type {number} */ column) => h('th', { scope: 'col', 'aria-sort': sorted?.column === column ? (sorted.down ? 'descending' : 'ascending') : 'none' },
    h('button', { type: 'button', class: 'sort', id: `sort-${column}`, onclick: () => { sorted = { column, down: sorted?.column === column && !sorted.down }; show(main, page); } }, text));
  const one = (/** @type {Cell} */ cell) => {
    const { text, margin: wide, rough } = shown(cell);
    return h('td', { class: `number ${rough ? 'rough' : ''}` }, text, ' ', h('small', {}, wide));
  };
  const by = attributes.slice(0, -1).map((group) => asked(page, group)).join(', ');
  return h('div', {}, find, h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('results.table') }, h('table', {}, h('caption', {}, t(by ? 'results.row_shares' : 'results.shares')),
    h('thead', {}, h('tr', {}, head(by || t('results.group'), 0), labels.map((label, at) => head(called(page, name, label), at + 1)))),
    h('tbody', {}, all.map(([group, own]) => h('tr', {}, h('th', { scope: 'row' }, group), own.map(one)))))));
}

/**
 * @param {Page} page
 * @param {Wanted} wanted
 * @param {HTMLElement} place
 */
async function differences(page, wanted, place) {
  fill(place, h('p', { role: 'status' }, t('trade.computing')));
  try {
    const { differences: all } = await page.ask('compare', { table: wanted });
    const row = (/** @type {any} */ one) => h('tr', { class: one.difference && (one.difference.low > 0 || one.difference.high < 0) ? 'clear' : '' },
      h('th', { scope: 'row' }, one.categories.map((/** @type {string} */ label) => called(page, wanted.of, label)).join(', ')), h('td', {}, t('results.less', { second: called(page, wanted.by[0], one.second), first: called(page, wanted.by[0], one.first) })),
      h('td', { class: 'number' }, one.difference ? `${points(one.difference.estimate)} ${margin(50 * (one.difference.high - one.difference.low))}` : '–'), h('td', { class: 'number' }, one.p_value === null ? one.reason ?? '–' : pValue(one.p_value)));
    fill(place, h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('results.differences') }, h('table', {}, h('caption', {}, t('results.differences_caption')), h('thead', {}, h('tr', {}, ['answer', 'compared', 'difference', 'chance'].map((key, at) => h('th', { scope: 'col', class: at > 1 ? 'number' : '' }, t(`results.col_${key}`))))), h('tbody', {}, all.map(row)))));
  } catch (error) {
    fill(place, '');
    page.fail(error);
  }
}

/** @param {Page} page */
function regression(page) {
  const place = h('div', { role: 'status' });
  const used = page.state.columns.filter(({ role }) => role !== 'out').map(({ name }) => name);
  const fit = async (/** @type {import('../api.js').Model} */ model) => {
    page.clear();
    fill(place, t('trade.computing'));
    try {
      const fitted = await page.ask('regression', { model });
      const odds = fitted.coefficients.some((/** @type {any} */ one) => one.odds_ratio !== null && one.odds_ratio !== undefined);
      const row = (/** @type {any} */ one) => h('tr', {}, h('th', { scope: 'row' }, one.name ?? one.term ?? [one.attribute, one.category].filter(Boolean).join(' = ')),
        h('td', { class: 'number' }, one.estimate.toPrecision(3)), h('td', { class: 'number' }, one.low === null ? '–' : `${one.low.toPrecision(3)} – ${one.high?.toPrecision(3) ?? '–'}`), odds && h('td', { class: 'number' }, one.odds_ratio?.toPrecision(3) ?? '–'), h('td', { class: 'number' }, one.p_value === null ? '–' : pValue(one.p_value)));
      const add = button(t('results.add_model'), () => page.edit(({ study: { tables, means, models } }) => ({ do: 'publish', tables, means, models: [...models, model] })), { id: 'publish-model' });
      fill(place, h('h3', {}, modelName(model)), h('table', {}, h('caption', {}, t('results.fitted', { n: count(fitted.respondents), family: fitted.family })), h('thead', {}, h('tr', {}, ['term', 'coefficient', 'interval', ...(odds ? ['odds'] : []), 'chance'].map((key, at) => h('th', { scope: 'col', class: at > 0 ? 'number' : '' }, t(`results.col_${key}`))))), h('tbody', {}, fitted.coefficients.map(row))),
        fitted.notes.map((/** @type {string} */ note) => h('p', { class: 'hint' }, note.replaceAll('`', ''))), add);
    } catch (error) {
      fill(place, '');
      page.fail(error);
    }
  };
  return [h('h2', {}, t('results.regression')), h('p', {}, t('results.regression_text')), modelForm(page, used, fit, t('results.fit')), place];
}
