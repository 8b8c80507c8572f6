// Step 2: what becomes of each column or question.

import { fill, h } from '../dom.js';
import { choice, heading, notice, steps } from '../parts.js';
import { several, t } from '../words.js';
import { bars } from '../chart.js';
import { add, edit } from './column.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {import('../api.js').Column} Column */

/** @type {string | null} */
let chosen = null;
let search = '';

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export function draw(main, page) {
  const { state } = page;
  const { columns } = state;
  if (!columns.some(({ name }) => name === chosen)) chosen = columns[0]?.name ?? '';
  const pick = (/** @type {string} */ name) => {
    chosen = name;
    draw(main, page);
  };
  const used = columns.filter(({ role }) => role !== 'out');
  const wanted = (/** @type {Column} */ { name }) => `${name} ${asked(page, name)}`.toLowerCase().includes(search.toLowerCase());
  const find = h('label', { class: 'field' }, h('span', {}, t('columns.find')),
    h('input', { type: 'text', id: 'find', value: search, autocomplete: 'off', oninput: (/** @type {Event} */ event) => {
      search = /** @type {HTMLInputElement} */ (event.target).value;
      draw(main, page);
    } }));
  const current = columns.find(({ name }) => name === chosen);
  const protect = columns.some(({ role }) => role === 'protect');
  fill(main, ...heading(t('columns.title'), t(state.data ? 'columns.lead' : 'columns.lead_questions')),
    state.locked && notice('plain', t('page.locked')),
    h('div', { class: 'columns' },
      h('div', {}, columns.length > 12 && h('div', { class: 'row' }, find, all(page, columns.filter(wanted))),
        columns.length ? table(page, columns.filter(wanted), pick) : h('p', {}, t('columns.none')),
        !state.data && !state.locked && add(page, pick)),
      current && h('aside', { class: 'card', 'aria-label': t('column.of', { name: chosen || t('open.no_name') }) }, edit(page, current))),
    steps(page, 'columns', { text: t('columns.next'), ready: used.length > 0 && protect, reason: used.length ? t('columns.nothing_protected') : t('columns.nothing') }));
}

/**
 * How a question is asked.
 * @param {Page} page
 * @param {string} name
 */
export const asked = ({ state }, name) => state.texts.en?.questions?.[name]?.text ?? (name || t('open.no_name'));

/**
 * What is said of a picture that was not made of every row.
 * @param {number | undefined} every
 */
export const sampled = (every = 1) => every > 1 && h('small', {}, t('columns.sampled', { n: every }));

/**
 * @param {Page} page
 * @param {Column[]} columns
 */
function all(page, columns) {
  const names = columns.filter(({ role, usable }) => role !== 'out' || usable).map(({ name }) => name);
  const button = (/** @type {string} */ role) =>
    h('button', { type: 'button', class: 'quiet', id: `all-${role}`, disabled: page.state.locked, onclick: () => void page.edit({ do: 'role', names: role === 'out' ? names : names.filter((name) => columns.find((one) => one.name === name)?.attribute || columns.find((one) => one.name === name)?.aside), role }) }, t(`columns.all_${role}`));
  return h('span', { class: 'groups' }, several('columns.found', columns.length), ['protect', 'public', 'out'].map(button));
}

/**
 * @param {Page} page
 * @param {Column[]} columns
 * @param {(name: string) => void} pick
 */
function table(page, columns, pick) {
  const head = ['question', 'answers', 'number', 'order', 'role'].map((name) => h('th', { scope: 'col' }, t(`columns.${name}`)));
  return h('table', { class: 'questions' }, h('caption', { class: 'unseen' }, t('columns.caption')),
    h('thead', {}, h('tr', {}, head)), h('tbody', {}, columns.map((column, at) => row(page, column, at, pick))));
}

/**
 * @param {Page} page
 * @param {Column} column
 * @param {number} at
 * @param {(name: string) => void} pick
 */
function row(page, column, at, pick) {
  const { name, role, attribute, counts, summary, usable } = column;
  const text = asked(page, name);
  const roles = /** @type {[string, string][]} */ ([['protect', t('columns.protect')], ['public', t('columns.public')], ['out', t('columns.out')]]);
  const why = summary && !attribute && !column.aside ? t(`columns.is_${summary.kind.replace('-', '_')}`) : '';
  const set = (/** @type {string} */ value) => {
    if (value !== 'out' && !attribute && !column.aside) pick(name);
    else void page.edit({ do: 'role', names: [name], role: value });
  };
  return h('tr', { class: `${name === chosen ? 'chosen' : ''} ${role}` },
    h('th', { scope: 'row' }, h('button', { type: 'button', class: 'name', id: `column-${at}`, 'aria-pressed': String(name === chosen), onclick: () => pick(name) }, text),
      h('code', { hidden: text === name || !name }, name)),
    h('td', {}, counts ? bars(counts, attribute?.labels ?? []) : why, sampled(column.every)),
    h('td', {}, attribute ? String(attribute.labels.length) : ''),
    h('td', {}, attribute ? t(`columns.${attribute.kind}`) : ''),
    h('td', {}, role === 'out' && !usable ? h('span', { class: 'quiet' }, t('columns.cannot')) : choice(t('columns.role_of', { name: text }), `role-${at}`, roles, role, set, { disabled: page.state.locked })));
}
