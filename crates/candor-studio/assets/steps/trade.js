// Step 4: the trade-off. Designs are computed behind the page; while the slider moves, numbers between them are interpolated.

import { Problem } from '../api.js';
import { fill, h } from '../dom.js';
import { button, heading, icon, notice, steps } from '../parts.js';
import { figure, hundred, strips } from '../chart.js';
import { margin, ofHundred } from '../numbers.js';
import { count, several, t } from '../words.js';
import { asked } from './columns.js';
import { MANY, questions, tables } from './margins.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {{name: string, by_luck: number, average: number, worst: number}} Guessing */
/** @typedef {{attributes: string[], margin: number | null, shown: string | null, grade: string}} TableMargin */
/** @typedef {{share: number, low: number, high: number}} Figure */
/** @typedef {{verdict: string, verdict_text: string, grade: string, epsilon: number, typical: number | null, widest: number | null, respondents_needed: number | null, most_told: Guessing, guessing: Guessing[], tables: TableMargin[], optimality: string | null, figure: Figure | null, cut_short: boolean, notes: string[]}} Position */
/** @typedef {{name: string, respondents: number | null, typical: number | null, text: string}} Cost */
/** @typedef {{stops: number[], limits: [number, number], epsilon: number, positions: Position[], costs: Cost[], problem: string | null, busy: boolean}} Curve */
/** @typedef {'strips' | 'guesses' | 'figure' | 'verdict' | 'tables' | 'questions' | 'why' | 'numbers' | 'ways'} Part */
/** @typedef {{page: Page, parts: Record<Part, HTMLElement>, trade: HTMLElement, slider: HTMLInputElement, exact: HTMLInputElement}} Frame */

/** How long the slider must rest before its plan is asked for. */
const REST = 200;

/** How often it is asked whether more is known. */
const AGAIN = 250;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {Curve | null} */
let curve = null;
let of = '';
/** Where the slider is. @type {number} */
let epsilon = 0;
let search = '';
let everything = false;
/** Whether the numbers are of other questions or tables than those of now. */
let stale = false;

/** The epsilon that was kept when the step was shown. @type {number | null | undefined} */
let kept;

/** Ends asking for numbers. */
export function leave() {
  clearTimeout(timer);
  kept = undefined;
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  clearTimeout(timer);
  const { name, study, columns } = page.state;
  const key = JSON.stringify([name, study.tables, study.means, study.models, study.respondents, columns.map(({ name: one, role, attribute }) => [one, role, attribute?.labels])]);
  if (!of.startsWith(JSON.stringify([name]).slice(0, -1))) curve = null;
  // Old numbers stay until there are new ones, in gray.
  stale = key !== of && curve !== null;
  of = key;
  const head = h('div', { class: 'row top' }, h('div', {}, ...heading(t('trade.title'), t('trade.lead'))), people(page));
  if (!study.respondents) {
    fill(main, head, notice('plain', t('trade.people_first')), steps(page, 'trade', null));
    return;
  }
  // The slider stays where it was moved, unless another epsilon is kept.
  if (!curve || study.epsilon !== kept) epsilon = study.epsilon ?? curve?.epsilon ?? 0;
  kept = study.epsilon;
  if (!curve) {
    fill(main, head, h('p', { class: 'quiet', role: 'status' }, t('trade.computing')));
    if (!await look(page, study.epsilon) || !main.isConnected || !curve || of !== key) return;
    epsilon = /** @type {Curve} */ (curve).epsilon;
  }
  const view = frame(main, page, head);
  show(view);
  if (stale || /** @type {Curve} */ (curve).busy) void follow(view);
}

/**
 * Asks for the numbers at an epsilon; whether they came.
 * @param {Page} page
 * @param {number | null} at
 */
async function look(page, at) {
  const asking = of;
  try {
    const next = /** @type {Curve} */ (await page.ask('trade', { epsilon: at }));
    if (asking !== of) return false;
    if (next.problem) throw new Problem('input', next.problem);
    [curve, stale] = [next, stale && next.positions.length === 0];
    return true;
  } catch (error) {
    if (asking === of) page.fail(error);
    return false;
  }
}

/**
 * Shows the numbers where the slider is, and again while more are to come.
 * @param {Frame} view
 */
async function follow(view) {
  clearTimeout(timer);
  const at = epsilon;
  if (!await look(view.page, at) || !view.trade.isConnected) return;
  show(view);
  if (epsilon === at && curve?.busy) timer = setTimeout(() => void follow(view), AGAIN);
}

/** @param {Page} page */
function people(page) {
  const { respondents } = page.state.study;
  const save = (/** @type {Event} */ event) => page.edit({ do: 'respondents', respondents: Number(/** @type {HTMLInputElement} */ (event.target).value.replace(/\D/g, '')) });
  return h('div', { class: 'people' }, h('label', { for: 'people' }, t(page.state.data ? 'trade.people_rows' : 'trade.people')),
    h('input', { type: 'text', inputmode: 'numeric', id: 'people', value: respondents ? count(respondents) : '', disabled: page.state.locked, onchange: save, autocomplete: 'off' }));
}

/**
 * The numbers where the slider is: computed, or between two that are.
 * @returns {{here: Position | null, between: boolean}}
 */
function numbersHere() {
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
 * What stays while the slider moves: the slider itself, and the places of the numbers.
 * @param {HTMLElement} main
 * @param {Page} page
 * @param {HTMLElement} head
 * @returns {Frame}
 */
function frame(main, page, head) {
  const place = (/** @type {Record<string, unknown>} */ properties = {}) => h('div', properties);
  const parts = {
    strips: place(), guesses: place(), figure: place(), verdict: place({ role: 'status' }), tables: place(), questions: place(), why: place(), numbers: place(), ways: place(),
  };
  const { locked, columns } = page.state;
  const slider = h('input', { type: 'range', id: 'slider', min: 0, max: (curve?.stops.length ?? 1) - 1, step: 1, disabled: locked, 'aria-label': t('trade.slider'),
    oninput: () => move(view, curve?.stops[Number(slider.value)] ?? epsilon) });
  const exact = h('input', { type: 'text', inputmode: 'decimal', id: 'epsilon', disabled: locked, autocomplete: 'off', onchange: () => {
    const value = Number(exact.value.replace(',', '.'));
    if (value > 0 && Number.isFinite(value)) move(view, value);
    else page.fail(new Problem('input', t('trade.epsilon_wrong')));
  } });
  const find = columns.filter(({ role }) => role !== 'out').length > MANY && h('label', { class: 'field' }, h('span', {}, t('columns.find')), h('input', { type: 'text', id: 'find', value: search, autocomplete: 'off',
    oninput: (/** @type {Event} */ event) => { search = /** @type {HTMLInputElement} */ (event.target).value; show(view); } }));
  const ends = h('div', { class: 'row' }, h('span', {}, '← ', t('trade.private')), h('label', { for: 'epsilon' }, t('trade.epsilon'), ' ', exact), h('span', {}, t('trade.precise'), ' →'));
  const card = (/** @type {string} */ id, /** @type {HTMLElement} */ content) => h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, t(`trade.${id}`)), content);
  const trade = h('div', { class: 'trade' }, h('section', { class: 'card', 'aria-label': t('trade.strips') }, parts.strips, h('div', { class: 'slider' }, slider, ends)),
    h('div', {}, card('guesses', parts.guesses), card('figure', parts.figure)));
  /** @type {Frame} */
  const view = { page, parts, trade, slider, exact };
  fill(main, head, locked && notice('plain', t('page.locked')), page.state.plan?.problem && notice('bad', page.state.plan.problem), trade, parts.verdict,
    h('div', { class: 'halves lists' }, h('section', { 'aria-labelledby': 'your-tables' }, parts.tables),
      h('section', { 'aria-labelledby': 'your-questions' }, h('div', { class: 'row top' }, h('h2', { id: 'your-questions' }, t('trade.questions')), h('span', { class: 'quiet' }, t('trade.questions_note'))), find, parts.questions,
        h('p', { class: 'quiet' }, t('trade.cost_note')))),
    parts.why, parts.numbers, parts.ways);
  return view;
}

/**
 * The slider moves: its numbers at once, its plan when it rests.
 * @param {Frame} view
 * @param {number} to
 */
function move(view, to) {
  clearTimeout(timer);
  epsilon = to;
  show(view);
  timer = setTimeout(() => void follow(view), REST);
}

/** @param {Frame} view */
function show(view) {
  const { here, between } = numbersHere();
  const { page, parts, slider } = view;
  const stops = curve?.stops ?? [];
  const far = (/** @type {number} */ stop) => Math.abs(Math.log(stop / epsilon));
  slider.value = String(stops.reduce((best, stop, at) => (far(stop) < far(stops[best]) ? at : best), 0));
  if (document.activeElement !== view.exact) view.exact.value = String(epsilon);
  if (!curve || !here) {
    fill(parts.verdict, notice('plain', t('trade.computing')));
    fill(parts.ways, steps(page, 'trade', null));
    return;
  }
  slider.setAttribute('aria-valuetext', t('trade.value', { worst: ofHundred(here.most_told.worst), margin: here.typical?.toFixed(1) ?? '–' }));
  const waiting = between || stale;
  for (const part of [view.trade, parts.tables, parts.questions]) part.classList.toggle('stale', waiting);
  fill(parts.strips, strips(curve, curve.positions, here));
  fill(parts.guesses, guesses(here.most_told));
  fill(parts.figure, here.figure && !between ? [figure(here.figure), h('p', {}, t('trade.figure_text', { share: here.figure.share, low: Math.round(here.figure.low), high: Math.round(here.figure.high) }))]
    : h('p', {}, t('trade.margin_text', { margin: here.typical === null ? '–' : margin(here.typical) })));
  fill(parts.verdict, said(view, here, waiting));
  fill(parts.tables, tables(page, curve, here, everything, () => { everything = true; show(view); }));
  fill(parts.questions, questions(page, curve, here, search));
  fill(parts.why, why(here));
  fill(parts.numbers, numbers());
  fill(parts.ways, ways(page, here, waiting));
}

/** @param {Guessing} told */
function guesses({ name, by_luck: luck, average, worst }) {
  const [a, b, c] = [luck, average, worst].map(ofHundred);
  const line = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {number} */ n) => h('li', {}, h('span', { class: `spot ${kind}` }), h('strong', {}, String(n)), ' ', t(`trade.${text}`));
  return [hundred(a, b, c), h('ul', { class: 'plain' }, line('mute', 'right_by_luck', a), line('data', 'from_average', b), line('band', 'from_worst', c)), h('p', { class: 'quiet' }, t('trade.about', { name }))];
}

/** The kind of notice for a grade. */
const KINDS = /** @type {Record<string, 'good' | 'warn' | 'bad'>} */ ({ precise: 'good', good: 'good', rough: 'warn', 'too-imprecise': 'bad' });

/** Whether all tables are good at a position. */
const isFine = (/** @type {Position} */ { tables: all }) => all.every(({ grade }) => KINDS[grade] === 'good');

/**
 * The verdict, and ways to a better one.
 * @param {Frame} view
 * @param {Position} here
 * @param {boolean} waiting
 */
function said(view, here, waiting) {
  const kind = KINDS[here.grade] ?? 'bad';
  if (waiting) return h('div', { class: 'notice plain', id: 'verdict' }, h('div', {}, t('trade.computing')));
  return h('div', { class: `notice ${kind}`, id: 'verdict' }, icon(kind), h('div', {}, h('p', {}, here.verdict_text), !isFine(here) && !view.page.state.locked && h('ul', { class: 'out' }, waysOut(view, here))));
}

/**
 * What to do where tables are imprecise: each with the number it leads to.
 * @param {Frame} view
 * @param {Position} here
 */
function waysOut(view, here) {
  const { page } = view;
  const better = curve?.positions.filter((one) => one.epsilon > here.epsilon && isFine(one)).sort((a, b) => a.epsilon - b.epsilon)[0];
  const most = curve?.costs.filter(({ respondents }) => respondents !== null).sort((a, b) => (b.respondents ?? 0) - (a.respondents ?? 0))[0];
  const try_ = (/** @type {() => unknown} */ act, /** @type {string} */ id, /** @type {string} */ label) => button(t('trade.try'), act, { kind: 'quiet', id, label: `${t('trade.try')}: ${label}` });
  const way = (/** @type {string} */ text, /** @type {HTMLElement | false} */ go) => h('li', {}, h('span', {}, text), ' ', go);
  const [one, two] = [better && t('trade.out_epsilon', { epsilon: better.epsilon, worst: ofHundred(better.most_told.worst) }), most && t('trade.out_public', { name: asked(page, most.name), margin: most.typical === null ? '–' : margin(most.typical) })];
  return [better && one && way(one, try_(() => move(view, better.epsilon), 'try-epsilon', one)),
    most && two && way(two, try_(() => page.edit({ do: 'role', names: [most.name], role: 'public' }), 'try-public', two)),
    here.respondents_needed && way(t('trade.out_people', { people: count(here.respondents_needed) }), false)];
}

/** @param {Position} here */
function why({ optimality, notes, cut_short: cut }) {
  return h('details', { id: 'why' }, h('summary', {}, t('trade.why')), h('p', {}, t('trade.why_text')), optimality && h('p', {}, optimality), cut && h('p', {}, t('trade.cut')),
    notes.length > 0 && h('ul', {}, notes.map((note) => h('li', {}, note.replaceAll('`', '')))));
}

/** The strips as a table. */
function numbers() {
  const all = [...(curve?.positions ?? [])].sort((a, b) => a.epsilon - b.epsilon);
  const cells = (/** @type {Position} */ one) => [ofHundred(one.most_told.worst), ofHundred(one.most_told.average), one.typical?.toFixed(1) ?? '–', one.widest?.toFixed(1) ?? '–'];
  return h('details', { id: 'as-numbers' }, h('summary', {}, t('trade.as_numbers')), h('table', {}, h('caption', {}, several('trade.computed', all.length)),
    h('thead', {}, h('tr', {}, ['epsilon', 'worst', 'average', 'typical', 'widest'].map((key) => h('th', { scope: 'col', class: key === 'epsilon' ? '' : 'number' }, t(`trade.num_${key}`))))),
    h('tbody', {}, all.map((one) => h('tr', {}, h('th', { scope: 'row' }, String(one.epsilon)), cells(one).map((text) => h('td', { class: 'number' }, String(text))))))));
}

/**
 * @param {Page} page
 * @param {Position} here
 * @param {boolean} waiting
 */
function ways(page, here, waiting) {
  const bad = KINDS[here.grade] === 'bad';
  const keep = async () => {
    const wanted = epsilon;
    if (page.state.study.epsilon !== wanted) await page.edit({ do: 'epsilon', epsilon: wanted });
    const { locked, plan } = page.state;
    if (locked || (plan?.current && !plan.problem) || await page.change('plan')) page.go('promise');
  };
  return h('div', { class: 'ways' }, button(t('page.back'), () => page.go('tables'), { id: 'back' }), h('span', { class: 'space' }),
    bad && !waiting && h('span', { class: 'reason' }, t('trade.suppress')),
    button(page.state.locked ? t('trade.go_on') : bad ? t('trade.anyway') : t('trade.keep'), keep, { kind: bad ? 'secondary' : 'primary', id: 'next', disabled: waiting }));
}
