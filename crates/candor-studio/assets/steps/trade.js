// Step 4: the trade-off. Designs are computed behind the page; while the slider moves, numbers between them are interpolated.

import { Problem } from '../api.js';
import { fill, h } from '../dom.js';
import { button, heading, icon, notice, steps, verdict } from '../parts.js';
import { hundred, strips } from '../chart.js';
import { margin, ofHundred } from '../numbers.js';
import { count, several, t } from '../words.js';
import { asked } from './columns.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {{name: string, by_luck: number, average: number, worst: number}} Guessing */
/** @typedef {{attributes: string[], margin: number | null, shown: string | null, grade: string}} TableMargin */
/** @typedef {{verdict: string, verdict_text: string, grade: string, epsilon: number, typical: number | null, widest: number | null, respondents_needed: number | null, most_told: Guessing, guessing: Guessing[], tables: TableMargin[], optimality: string | null, figure: [number, number] | null, cut_short: boolean, notes: string[]}} Position */
/** @typedef {{name: string, respondents: number | null, typical: number | null, text: string}} Cost */
/** @typedef {{stops: number[], epsilon: number, positions: Position[], costs: Cost[], problem: string | null, busy: boolean}} Curve */

/** More questions than this are shown in short, with a search. */
const MANY = 20;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let spoken;
/** @type {Curve | null} */
let curve = null;
let of = '';
let search = '';
let everything = false;

/** Ends asking for numbers. */
export function leave() {
  clearTimeout(timer);
  clearTimeout(spoken);
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const { state } = page;
  const { study } = state;
  const key = JSON.stringify([state.name, study.tables, study.means, study.models, study.respondents, state.columns.map(({ name, role, attribute }) => [name, role, attribute?.labels])]);
  // Old numbers stay until there are new ones, in grey.
  const stale = key !== of && curve !== null;
  of = key;
  clearTimeout(timer);
  if (!study.respondents) {
    fill(main, ...heading(t('trade.title'), t('trade.lead')), people(page), notice('plain', t('trade.people_first')), steps(page, 'trade', null));
    return;
  }
  if (curve && curve.epsilon === study.epsilon && !stale) show(main, page, curve.epsilon);
  else if (curve) show(main, page, study.epsilon ?? curve.epsilon, true);
  else fill(main, ...heading(t('trade.title'), t('trade.lead')), people(page), h('p', { class: 'quiet', role: 'status' }, t('trade.computing')));
  await look(main, page, study.epsilon);
}

/**
 * Asks for the numbers at an epsilon, and again while more are to come.
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {number | null} epsilon
 */
async function look(main, page, epsilon) {
  clearTimeout(timer);
  const asking = of;
  try {
    const next = /** @type {Curve} */ (await page.ask('trade', { epsilon }));
    if (asking !== of || !main.isConnected) return;
    curve = next;
    if (next.problem) throw new Problem('input', next.problem);
    show(main, page, next.epsilon);
    if (next.busy) timer = setTimeout(() => void look(main, page, curve?.epsilon ?? epsilon), 250);
  } catch (error) {
    fill(main, ...heading(t('trade.title'), t('trade.lead')), people(page), steps(page, 'trade', null));
    page.fail(error);
  }
}

/** @param {Page} page */
function people(page) {
  const { respondents } = page.state.study;
  const save = (/** @type {Event} */ event) => page.edit({ do: 'respondents', respondents: Number(/** @type {HTMLInputElement} */ (event.target).value.replace(/\D/g, '')) });
  return h('div', { class: 'people' }, h('label', { for: 'people' }, t(page.state.data ? 'trade.people_rows' : 'trade.people')),
    h('input', { type: 'text', inputmode: 'numeric', id: 'people', value: respondents ? count(respondents) : '', disabled: page.state.locked, onchange: save, autocomplete: 'off' }));
}

/**
 * The numbers at an epsilon: computed, or between two that are.
 * @param {number} epsilon
 * @returns {{here: Position | null, between: boolean}}
 */
function at(epsilon) {
  const all = curve?.positions ?? [];
  const exact = all.find((position) => position.epsilon === epsilon);
  if (exact) return { here: exact, between: false };
  const below = all.filter((position) => position.epsilon < epsilon).sort((a, b) => b.epsilon - a.epsilon)[0];
  const above = all.filter((position) => position.epsilon > epsilon).sort((a, b) => a.epsilon - b.epsilon)[0];
  if (!below || !above) return { here: below ?? above ?? null, between: true };
  const part = Math.log(epsilon / below.epsilon) / Math.log(above.epsilon / below.epsilon);
  const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + part * (b - a);
  const mixMargin = (/** @type {number | null} */ a, /** @type {number | null} */ b) => (a && b ? Math.exp(mix(Math.log(a), Math.log(b))) : null);
  const told = { ...below.most_told, worst: mix(below.most_told.worst, above.most_told.worst), average: mix(below.most_told.average, above.most_told.average) };
  return { here: { ...below, epsilon, typical: mixMargin(below.typical, above.typical), widest: mixMargin(below.widest, above.widest), most_told: told }, between: true };
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {number} epsilon
 * @param {boolean} [stale]
 */
function show(main, page, epsilon, stale = false) {
  if (!curve) return;
  const { here, between } = at(epsilon);
  if (!here) return;
  const rough = stale || between;
  const keep = async () => {
    if (page.state.study.epsilon !== epsilon) await page.edit({ do: 'epsilon', epsilon });
    if (!page.state.locked && (!page.state.plan?.current || page.state.plan.problem)) {
      const done = await page.change('plan');
      if (!done) return;
    }
    page.go('promise');
  };
  const typical = here.typical === null ? '–' : margin(here.typical);
  const kind = here.grade === 'too-imprecise' ? 'bad' : here.grade === 'rough' ? 'warn' : 'good';
  fill(main, h('div', { class: 'row top' }, h('div', {}, ...heading(t('trade.title'), t('trade.lead'))), people(page)),
    page.state.locked && notice('plain', t('page.locked')),
    page.state.plan?.problem && notice('bad', page.state.plan.problem),
    h('div', { class: `trade ${rough ? 'stale' : ''}` },
      h('section', { class: 'card', 'aria-label': t('trade.strips') }, strips(curve.stops, curve.positions, epsilon, here), slider(main, page, epsilon, here)),
      h('div', {}, h('section', { class: 'card', 'aria-labelledby': 'guesses' }, h('h2', { id: 'guesses' }, t('trade.guesses')), guesses(here.most_told)),
        h('section', { class: 'card', 'aria-labelledby': 'figure' }, h('h2', { id: 'figure' }, t('trade.figure')), here.figure && !between
          ? h('p', {}, t('trade.figure_text', { low: Math.round(here.figure[0]), high: Math.round(here.figure[1]) })) : h('p', {}, t('trade.margin_text', { margin: typical }))))),
    h('div', { class: `notice ${kind}`, id: 'verdict', role: 'status' }, icon(kind), h('div', {}, rough ? t('trade.computing') : here.verdict_text,
      !rough && here.respondents_needed && here.widest && here.widest > 5 && kind === 'bad' ? waysOut(page, here) : null)),
    h('div', { class: `halves ${rough ? 'stale' : ''}` }, tables(main, page, here), questions(main, page, here)),
    details(here),
    numbers(),
    h('div', { class: 'ways' }, button(t('page.back'), () => page.go('tables'), { id: 'back' }), h('span', { class: 'space' }),
      kind === 'bad' && !rough && h('span', { class: 'reason' }, t('trade.suppress')),
      button(page.state.locked ? t('trade.go_on') : kind === 'bad' ? t('trade.anyway') : t('trade.keep'), keep, { kind: kind === 'bad' ? 'secondary' : 'primary', id: 'next', disabled: rough })));
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {number} epsilon
 * @param {Position} here
 */
function slider(main, page, epsilon, here) {
  const stops = curve?.stops ?? [];
  const nearest = stops.reduce((best, stop, place) => (Math.abs(Math.log(stop / epsilon)) < Math.abs(Math.log(stops[best] / epsilon)) ? place : best), 0);
  const said = t('trade.value', { worst: ofHundred(here.most_told.worst), margin: here.typical?.toFixed(1) ?? '–' });
  const move = (/** @type {number} */ value) => {
    show(main, page, value, false);
    clearTimeout(spoken);
    spoken = setTimeout(() => {
      void look(main, page, value);
      page.say(t('trade.value', { worst: ofHundred(at(value).here?.most_told.worst ?? 1), margin: at(value).here?.typical?.toFixed(1) ?? '–' }));
    }, 200);
  };
  const input = h('input', { type: 'range', id: 'slider', min: 0, max: stops.length - 1, step: 1, value: nearest, disabled: page.state.locked, 'aria-label': t('trade.slider'), 'aria-valuetext': said,
    oninput: (/** @type {Event} */ event) => move(stops[Number(/** @type {HTMLInputElement} */ (event.target).value)]) });
  const exact = h('input', { type: 'text', inputmode: 'decimal', id: 'epsilon', value: String(epsilon), disabled: page.state.locked, autocomplete: 'off',
    onchange: (/** @type {Event} */ event) => {
      const value = Number(/** @type {HTMLInputElement} */ (event.target).value.replace(',', '.'));
      if (value > 0) move(value);
    } });
  return h('div', { class: 'slider' }, input, h('div', { class: 'row' }, h('span', {}, '← ', t('trade.private')), h('label', { for: 'epsilon' }, t('trade.epsilon'), ' ', exact), h('span', {}, t('trade.precise'), ' →')));
}

/** @param {Guessing} told */
function guesses({ name, by_luck: luck, average, worst }) {
  const [a, b, c] = [luck, average, worst].map(ofHundred);
  return [hundred(a, b, c), h('p', {}, t('trade.guess_text', { name, luck: a, average: b, worst: c }))];
}

/**
 * What to do where nothing can be published.
 * @param {Page} page
 * @param {Position} here
 */
function waysOut(page, here) {
  const better = curve?.positions.filter((position) => position.epsilon > here.epsilon && position.widest !== null && position.widest <= 5).sort((a, b) => a.epsilon - b.epsilon)[0];
  const most = curve?.costs.filter(({ respondents }) => respondents !== null).sort((a, b) => (b.respondents ?? 0) - (a.respondents ?? 0))[0];
  return h('ul', { class: 'out' },
    better && h('li', {}, t('trade.out_epsilon', { epsilon: better.epsilon, worst: ofHundred(better.most_told.worst) })),
    most && h('li', {}, t('trade.out_public', { name: asked(page, most.name), margin: most.typical?.toFixed(1) ?? '–' })),
    h('li', {}, t('trade.out_people', { people: count(here.respondents_needed ?? 0) })));
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {Position} here
 */
function tables(main, page, here) {
  const sorted = [...here.tables].sort((a, b) => (b.margin ?? Infinity) - (a.margin ?? Infinity));
  const few = sorted.length > MANY && !everything ? sorted.slice(0, 5) : sorted;
  const name = (/** @type {string[]} */ attributes) => {
    const [first, ...by] = [...attributes].reverse().map((one) => asked(page, one));
    return by.length ? t('tables.of_by', { of: first, by: by.join(', ') }) : first;
  };
  const row = (/** @type {TableMargin} */ { attributes, margin: wide, shown, grade }) => h('tr', {}, h('th', { scope: 'row' }, name(attributes)),
    h('td', { class: 'bar' }, wide !== null && h('span', { class: 'margin-bar', style: { width: `${Math.min(100, 5 * wide)}%` } })),
    h('td', { class: 'number' }, shown === null ? '–' : `± ${shown}`), h('td', {}, verdict(grade)));
  return h('section', { 'aria-labelledby': 'your-tables' }, h('h2', { id: 'your-tables' }, t('trade.tables')), h('p', { class: 'quiet' }, t('trade.tables_note')),
    h('table', {}, h('caption', { class: 'unseen' }, t('trade.tables')), h('thead', {}, h('tr', {}, ['table', 'bar', 'margin', 'verdict'].map((key) => h('th', { scope: 'col' }, t(`trade.col_${key}`))))),
      h('tbody', {}, few.map(row))),
    few.length < sorted.length && button(t('trade.all', { n: sorted.length }), () => { everything = true; show(main, page, here.epsilon); }, { kind: 'quiet', id: 'all-tables' }));
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {Position} here
 */
function questions(main, page, here) {
  const used = page.state.columns.filter(({ role }) => role !== 'out');
  const costs = new Map((curve?.costs ?? []).map((cost) => [cost.name, cost]));
  const find = used.length > MANY && h('label', { class: 'field' }, h('span', {}, t('columns.find')), h('input', { type: 'text', id: 'find', value: search, autocomplete: 'off',
    oninput: (/** @type {Event} */ event) => { search = /** @type {HTMLInputElement} */ (event.target).value; show(main, page, here.epsilon); } }));
  const shown = used.filter(({ name }) => `${name} ${asked(page, name)}`.toLowerCase().includes(search.toLowerCase()));
  const row = (/** @type {import('../api.js').Column} */ { name, role }, /** @type {number} */ place) => {
    const guess = here.guessing.find((one) => one.name === name);
    const cost = costs.get(name);
    const last = role === 'protect' && used.filter((one) => one.role === 'protect').length === 1;
    const toggle = () => page.edit({ do: 'role', names: [name], role: role === 'protect' ? 'public' : 'protect' });
    return h('tr', {}, h('td', {}, h('input', { type: 'checkbox', role: 'switch', id: `switch-${place}`, checked: role === 'protect', disabled: page.state.locked || last, 'aria-label': t('trade.protect', { name: asked(page, name) }), onchange: () => void toggle() })),
      h('th', { scope: 'row' }, asked(page, name)),
      role === 'public' ? h('td', { colspan: 2, class: 'quiet' }, icon('eye'), ' ', t('trade.sent')) : [
        h('td', { class: 'number' }, guess ? `${ofHundred(guess.worst)} / ${ofHundred(guess.average)}` : '…'),
        h('td', { class: 'number' }, cost ? (cost.respondents === null ? '–' : h('span', { title: t('trade.gain', { margin: cost.typical?.toFixed(1) ?? '–' }) }, count(cost.respondents))) : '…')]);
  };
  return h('section', { 'aria-labelledby': 'your-questions' }, h('h2', { id: 'your-questions' }, t('trade.questions')), h('p', { class: 'quiet' }, t('trade.questions_note')), find,
    h('table', {}, h('caption', { class: 'unseen' }, t('trade.questions')), h('thead', {}, h('tr', {}, ['protected', 'question', 'guess', 'cost'].map((key) => h('th', { scope: 'col' }, t(`trade.col_${key}`))))),
      h('tbody', {}, shown.map(row))));
}

/** @param {Position} here */
function details({ optimality, notes, cut_short: cut }) {
  return h('details', {}, h('summary', {}, t('trade.why')), h('p', {}, t('trade.why_text')), optimality && h('p', {}, optimality), cut && h('p', {}, t('trade.cut')),
    notes.length > 0 && h('ul', {}, notes.map((note) => h('li', {}, note.replaceAll('`', '')))));
}

/** The strips as a table. */
function numbers() {
  const all = [...(curve?.positions ?? [])].sort((a, b) => a.epsilon - b.epsilon);
  const row = (/** @type {Position} */ one) => h('tr', {}, h('th', { scope: 'row' }, String(one.epsilon)), [ofHundred(one.most_told.worst), ofHundred(one.most_told.average), one.typical?.toFixed(1) ?? '–', one.widest?.toFixed(1) ?? '–'].map((text) => h('td', { class: 'number' }, String(text))));
  return h('details', {}, h('summary', {}, t('trade.as_numbers')), h('table', {}, h('caption', {}, several('trade.computed', all.length)),
    h('thead', {}, h('tr', {}, ['epsilon', 'worst', 'average', 'typical', 'widest'].map((key) => h('th', { scope: 'col' }, t(`trade.num_${key}`))))), h('tbody', {}, all.map(row))));
}
