// Step 3: what is to be published, ticked.

import { fill, h } from '../dom.js';
import { button, heading, notice, select, steps } from '../parts.js';
import { count, several, t } from '../words.js';
import { asked } from './columns.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {import('../api.js').Wanted} Wanted */
/** @typedef {import('../api.js').Model} Model */
/** @typedef {Pick<import('../api.js').Study, 'tables' | 'means' | 'models'>} Asked */
/** @typedef {(asked: Asked) => Partial<Asked>} Change */

/** Questions whose groups have a column, besides the public ones. @type {string[]} */
let more = [];
let search = '';
/** The regression that is being chosen. @type {Model} */
let form = { outcome: '', predictors: [] };

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export function draw(main, page) {
  const { state } = page;
  const { study } = state;
  const used = state.columns.filter(({ role }) => role !== 'out');
  const save = (/** @type {Change} */ change) => page.edit(({ study: { tables, means: averages, models: fits } }) => {
    const asked_ = { tables, means: averages, models: fits };
    return { do: 'publish', ...asked_, ...change(asked_) };
  });
  const by = new Set([...used.filter(({ role }) => role === 'public').map(({ name }) => name), ...study.tables.flatMap((table) => table.by), ...more]);
  const groups = used.map(({ name }) => name).filter((name) => by.has(name));
  const others = used.filter(({ name }) => !by.has(name));
  const outcomes = used.filter(({ role }) => role === 'protect');
  const wanted = outcomes.filter(({ name }) => `${name} ${asked(page, name)}`.toLowerCase().includes(search.toLowerCase()));
  const find = outcomes.length > 12 && h('label', { class: 'field' }, h('span', {}, t('columns.find')), h('input', { type: 'text', id: 'find', value: search, autocomplete: 'off',
    oninput: (/** @type {Event} */ event) => { search = /** @type {HTMLInputElement} */ (event.target).value; draw(main, page); } }));
  const another = others.length > 0 && select(t('tables.by_another'), 'by-another', [['', t('tables.choose')], ...others.map(({ name }) => /** @type {[string, string]} */ ([name, asked(page, name)]))], '', (name) => {
    more = [...more, name];
    draw(main, page);
  });
  fill(main, ...heading(t('tables.title'), t('tables.lead')), state.locked && notice('plain', t('tables.locked')),
    h('div', { class: 'columns' },
      h('div', {}, h('div', { class: 'row' }, find, another), grid(page, wanted.map(({ name }) => name), groups, save), legend(), quick(page, outcomes.map(({ name }) => name), groups, save)),
      h('aside', { class: 'card', 'aria-labelledby': 'chosen' }, chosen(page, save), means(page, save), models(page, save, used.map(({ name }) => name)))),
    steps(page, 'tables', { text: t('tables.next'), ready: study.tables.length + study.means.length + study.models.length > 0, reason: t('tables.nothing') }));
}

const same = (/** @type {Wanted} */ a, /** @type {Wanted} */ b) => a.of === b.of && a.by.join('\n') === b.by.join('\n');

/**
 * @param {Page} page
 * @param {string[]} outcomes
 * @param {string[]} groups
 * @param {(change: Change) => unknown} save
 */
function grid(page, outcomes, groups, save) {
  const { tables } = page.state.study;
  const protectedOnes = new Set(page.state.columns.filter(({ role }) => role === 'protect').map(({ name }) => name));
  const tick = (/** @type {Wanted} */ wanted, /** @type {string} */ id) => {
    const on = tables.some((table) => same(table, wanted));
    const along = wanted.by.length === 0 && !on && tables.some(({ of, by }) => of === wanted.of || by.includes(wanted.of));
    const name = wanted.by.length ? t('tables.of_by', { of: asked(page, wanted.of), by: wanted.by.map((one) => asked(page, one)).join(', ') }) : t('tables.alone_of', { of: asked(page, wanted.of) });
    return h('td', {}, h('input', { type: 'checkbox', id, checked: on, class: along ? 'along' : '', 'aria-label': along ? `${name}, ${t('tables.along')}` : name,
      onchange: () => void save((now) => ({ tables: on ? now.tables.filter((table) => !same(table, wanted)) : [...now.tables, wanted] })) }));
  };
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('tables.title') }, h('table', { class: 'ticks' },
    h('caption', { class: 'unseen' }, t('tables.caption')),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('columns.question')), h('th', { scope: 'col' }, t('tables.alone')),
      groups.map((name) => h('th', { scope: 'col' }, t('tables.by', { by: asked(page, name) }), protectedOnes.has(name) && h('small', {}, t('tables.both')))))),
    h('tbody', {}, outcomes.map((of, at) => h('tr', {}, h('th', { scope: 'row' }, asked(page, of), ' ', h('small', {}, several('tables.answers', page.state.columns.find(({ name }) => name === of)?.attribute?.labels.length ?? 0))),
      tick({ of, by: [] }, `tick-${at}`), groups.map((by, place) => (by === of ? h('td', {}) : tick({ of, by: [by] }, `tick-${at}-${place}`))))))));
}

/** What the boxes of the grid mean. */
function legend() {
  const one = (/** @type {string} */ kind, /** @type {string} */ text) => h('span', {}, h('span', { class: `box ${kind}` }), text);
  return h('p', { class: 'legend', 'aria-hidden': 'true' }, one('on', t('tables.ticked')), one('along', t('tables.along')));
}

/**
 * Many ticks at once.
 * @param {Page} page
 * @param {string[]} outcomes
 * @param {string[]} groups
 * @param {(change: Change) => unknown} save
 */
function quick(page, outcomes, groups, save) {
  const all = (/** @type {string[]} */ by) => () => {
    const wanted = outcomes.filter((of) => !by.includes(of)).map((of) => ({ of, by }));
    return save((now) => ({ tables: [...now.tables, ...wanted.filter((one) => !now.tables.some((table) => same(table, one)))] }));
  };
  return h('p', { class: 'groups' }, h('strong', {}, t('tables.at_once')), button(t('tables.all_alone'), all([]), { kind: 'quiet', id: 'all-alone' }),
    groups.slice(0, 8).map((by, at) => button(t('tables.all_by', { by: asked(page, by) }), all([by]), { kind: 'quiet', id: `all-by-${at}` })),
    page.state.study.tables.length > 0 && button(t('tables.clear'), () => save(() => ({ tables: [] })), { kind: 'quiet', id: 'clear' }));
}

/**
 * @param {Page} page
 * @param {(change: Change) => unknown} save
 */
function chosen(page, save) {
  const { tables } = page.state.study;
  const size = (/** @type {string} */ name) => page.state.columns.find((column) => column.name === name)?.attribute?.labels.length ?? 1;
  const cells = (/** @type {Wanted} */ { of, by }) => [of, ...by].reduce((product, name) => product * size(name), 1);
  const row = (/** @type {Wanted} */ table) => h('li', {}, h('span', {}, tableName(page, table)), h('small', {}, several('tables.cells', cells(table))),
    button('×', () => save((now) => ({ tables: now.tables.filter((one) => !same(one, table)) })), { kind: 'quiet', label: t('tables.leave_out', { table: tableName(page, table) }) }));
  return [h('h2', { id: 'chosen' }, t('tables.chosen', { tables: several('rail.n_tables', tables.length), cells: count(tables.reduce((sum, table) => sum + cells(table), 0)) })),
    h('ul', { class: 'chosen' }, tables.slice(0, 40).map(row)), tables.length > 40 && h('p', {}, several('open.more', tables.length - 40))];
}

/**
 * What a table is called.
 * @param {Page} page
 * @param {Wanted} table
 */
export const tableName = (page, { of, by }) => (by.length ? t('tables.of_by', { of: asked(page, of), by: by.map((name) => asked(page, name)).join(', ') }) : asked(page, of));

/**
 * @param {Page} page
 * @param {(change: Change) => unknown} save
 */
function means(page, save) {
  const { means: on } = page.state.study;
  if (!page.state.means.length) return null;
  const box = (/** @type {string} */ name, /** @type {number} */ at) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: `mean-${at}`, checked: on.includes(name),
    onchange: () => void save((now) => ({ means: on.includes(name) ? now.means.filter((one) => one !== name) : [...now.means, name] })) }), asked(page, name));
  return h('details', { open: on.length > 0 }, h('summary', {}, t('tables.means')), page.state.means.map(box));
}

/**
 * @param {Page} page
 * @param {(change: Change) => unknown} save
 * @param {string[]} names
 */
function models(page, save, names) {
  const { models: on } = page.state.study;
  const list = h('ul', { class: 'chosen' }, on.map((model) => h('li', {}, h('span', {}, modelName(model)),
    button('×', () => save((now) => ({ models: now.models.filter((one) => modelName(one) !== modelName(model)) })), { kind: 'quiet', label: t('tables.leave_out', { table: modelName(model) }) }))));
  return h('details', { open: on.length > 0 }, h('summary', {}, t('tables.models')), list, modelForm(page, names, (model) => save((now) => ({ models: [...now.models, model] })), t('tables.add_model')));
}

/** @param {Model} model */
export const modelName = ({ outcome, predictors }) => t('tables.model', { outcome, predictors: predictors.join(', ') });

/**
 * An outcome and its predictors, chosen.
 * @param {Page} page
 * @param {string[]} names
 * @param {(model: Model) => unknown} act
 * @param {string} text
 */
export function modelForm(page, names, act, text) {
  if (!names.includes(form.outcome)) form = { outcome: names[0] ?? '', predictors: [] };
  const choices = names.map((name) => /** @type {[string, string]} */ ([name, asked(page, name)]));
  const box = (/** @type {string} */ name, /** @type {number} */ at) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: `predictor-${at}`, checked: form.predictors.includes(name),
    onchange: (/** @type {Event} */ event) => {
      const on = /** @type {HTMLInputElement} */ (event.target).checked;
      form.predictors = on ? [...form.predictors, name] : form.predictors.filter((one) => one !== name);
    } }), asked(page, name));
  return h('div', {}, select(t('tables.outcome'), 'outcome', choices, form.outcome, (name) => { form.outcome = name; }),
    h('fieldset', { class: 'predictors' }, h('legend', {}, t('tables.predictors')), names.map(box)),
    button(text, () => act({ outcome: form.outcome, predictors: form.predictors.filter((name) => name !== form.outcome && names.includes(name)) }), { id: 'add-model' }));
}
