// What a position of the slider means for each table and for each question.

import { h } from '../dom.js';
import { button, icon, verdict } from '../parts.js';
import { dots, guessRow } from '../chart.js';
import { margin, ofHundred } from '../numbers.js';
import { count, t } from '../words.js';
import { asked } from './columns.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {import('./trade.js').Position} Position */
/** @typedef {import('./trade.js').Curve} Curve */
/** @typedef {import('./trade.js').TableMargin} TableMargin */

/** With more tables or questions than this, they are shown in short. */
export const MANY = 20;

/** How many of many tables are shown. */
const WIDEST = 5;

/** A margin of this many points fills its bar. */
const BAR = 20;

/**
 * What a table of the plan is called: the last attribute by the others.
 * @param {Page} page
 * @param {string[]} attributes
 */
function tableName(page, attributes) {
  const [of, ...by] = [...attributes].reverse().map((one) => asked(page, one));
  return by.length ? t('tables.of_by', { of, by: by.join(', ') }) : of;
}

/**
 * @param {Page} page
 * @param {Curve} curve
 * @param {Position} here
 * @param {boolean} everything
 * @param {() => void} showAll
 */
export function tables(page, curve, here, everything, showAll) {
  const sorted = [...here.tables].sort((a, b) => (b.margin ?? Infinity) - (a.margin ?? Infinity));
  const few = sorted.length > MANY && !everything ? sorted.slice(0, WIDEST) : sorted;
  const ticks = curve.limits.map((limit) => h('span', { class: 'tick', style: { left: `${(100 * limit) / BAR}%` } }));
  const row = (/** @type {TableMargin} */ { attributes, margin: wide, shown, grade }) => h('tr', {}, h('th', { scope: 'row' }, tableName(page, attributes)),
    h('td', { class: 'bar' }, h('span', { class: 'margin-bar' }, ticks.map((one) => one.cloneNode()), wide !== null && h('span', { class: 'filled', style: { width: `${Math.min(100, (100 * wide) / BAR)}%` } }))),
    h('td', { class: 'number' }, h('strong', {}, shown === null ? '–' : `±${shown}`)), h('td', {}, verdict(grade)));
  return [h('div', { class: 'row top' }, h('h2', { id: 'your-tables' }, t('trade.tables', { n: count(sorted.length) })), h('span', { class: 'quiet' }, t('trade.tables_note'))),
    sorted.length > MANY && groupings(page, curve, sorted),
    h('table', {}, h('caption', { class: sorted.length === few.length ? 'unseen' : '' }, t(sorted.length === few.length ? 'trade.all_tables' : 'trade.widest_tables')),
      h('thead', {}, h('tr', {}, ['table', 'bar', 'margin', 'verdict'].map((key) => h('th', { scope: 'col', class: key === 'margin' ? 'number' : '' }, t(`trade.col_${key}`))))),
      h('tbody', {}, few.map(row))),
    few.length < sorted.length && button(t('trade.all', { n: sorted.length }), showAll, { kind: 'quiet', id: 'all-tables' })];
}

/**
 * Many tables: a strip of dots for all that have the same groups.
 * @param {Page} page
 * @param {Curve} curve
 * @param {TableMargin[]} all
 */
function groupings(page, { limits }, all) {
  /** @type {Map<string, TableMargin[]>} */
  const by = new Map();
  for (const table of all) {
    const groups = table.attributes.slice(0, -1).map((name) => asked(page, name)).join(', ');
    by.set(groups, [...(by.get(groups) ?? []), table]);
  }
  const line = (/** @type {[string, TableMargin[]]} */ [groups, own]) => {
    const name = `${groups ? t('tables.by', { by: groups }) : t('tables.alone')} (${count(own.length)})`;
    const imprecise = own.filter(({ grade }) => grade === 'too-imprecise').length;
    return h('li', {}, h('span', {}, name), dots(own.map(({ margin: wide }) => wide), limits, t('trade.dots', { name, n: imprecise })));
  };
  return h('ul', { class: 'plain dot-strips' }, [...by].sort(([, a], [, b]) => b.length - a.length).slice(0, 8).map(line),
    h('li', { 'aria-hidden': 'true' }, h('span', {}), h('span', { class: 'words' }, h('span', { class: 'good' }, t('grade.good')), h('span', { class: 'warn' }, t('grade.rough')), h('span', { class: 'bad' }, t('grade.too_imprecise')))));
}

/**
 * @param {Page} page
 * @param {Curve} curve
 * @param {Position} here
 * @param {string} search
 */
export function questions(page, curve, here, search) {
  const used = page.state.columns.filter(({ role }) => role !== 'out');
  const costs = new Map(curve.costs.map((cost) => [cost.name, cost]));
  const most = Math.max(1, ...curve.costs.map(({ respondents }) => respondents ?? 0));
  const only = used.filter(({ role }) => role === 'protect').length === 1;
  const cost = (/** @type {string} */ name) => {
    const known = costs.get(name);
    if (!known) return only ? '–' : '…';
    if (known.respondents === null) return '–';
    return [h('span', { class: 'cost-bar', style: { width: `${Math.round((48 * known.respondents) / most)}px` } }), ' ',
      h('span', { title: t('trade.gain', { margin: known.typical === null ? '–' : margin(known.typical) }) }, count(known.respondents))];
  };
  const row = (/** @type {import('../api.js').Column} */ { name, role }) => {
    const guess = here.guessing.find((one) => one.name === name);
    const toggle = () => page.edit({ do: 'role', names: [name], role: role === 'protect' ? 'public' : 'protect' });
    const box = h('input', { type: 'checkbox', role: 'switch', id: `switch-${used.findIndex((one) => one.name === name)}`, checked: role === 'protect', disabled: page.state.locked || (role === 'protect' && only),
      'aria-label': t('trade.protect', { name: asked(page, name) }), onchange: () => void toggle() });
    return h('tr', {}, h('td', {}, box), h('th', { scope: 'row' }, asked(page, name)),
      role === 'public' ? h('td', { colspan: 3, class: 'quiet' }, icon('eye'), ' ', t('trade.sent')) : [
        h('td', {}, guess && guessRow(guess)),
        h('td', { class: 'number' }, guess ? [h('strong', {}, String(ofHundred(guess.worst))), ` / ${ofHundred(guess.average)}`] : '…'), h('td', { class: 'number' }, cost(name))]);
  };
  const wanted = used.filter(({ name }) => `${name} ${asked(page, name)}`.toLowerCase().includes(search.toLowerCase()));
  return h('table', { class: used.length > MANY ? 'dense' : '' }, h('caption', { class: 'unseen' }, t('trade.questions')),
    h('thead', {}, h('tr', {}, ['protected', 'question', 'picture', 'guess', 'cost'].map((key) => h('th', { scope: 'col', class: ['guess', 'cost'].includes(key) ? 'number' : '' }, h('span', { class: key === 'protected' ? 'unseen' : '' }, t(`trade.col_${key}`)))))),
    h('tbody', {}, wanted.map(row)));
}
