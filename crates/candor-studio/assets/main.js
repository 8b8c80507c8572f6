// The frame of the page: the steps, the command of the step, what is saved. The address holds the token, the study and the step.

import { act, Problem, use } from './api.js';
import { byId, fill, h, isText } from './dom.js';
import { button, icon, notice, ORDER, progress } from './parts.js';
import { load, several, t } from './words.js';
import * as open from './steps/open.js';
import * as columns from './steps/columns.js';
import * as tables from './steps/tables.js';
import * as trade from './steps/trade.js';
import * as promise from './steps/promise.js';
import * as collect from './steps/collect.js';
import * as results from './steps/results.js';
import * as publish from './steps/publish.js';

/** @typedef {import('./api.js').State} State */
/**
 * What a step gets of the page.
 * @typedef {object} Page
 * @property {State} state
 * @property {(edit: Edit | ((state: State) => Edit)) => Promise<void>} edit makes a change, to the study as it is when all before it are made
 * @property {(action: string, body?: Record<string, unknown>) => Promise<any>} change does something that changes files
 * @property {(action: string, body?: Record<string, unknown>, signal?: AbortSignal) => Promise<any>} ask
 * @property {(step: string) => void} go
 * @property {(name: string, step?: string) => void} enter opens a study
 * @property {(state: State) => void} show
 * @property {(error: unknown) => void} fail
 * @property {() => void} clear takes a notice away
 * @property {(text: string) => void} say to a screen reader
 */
/** @typedef {Record<string, unknown>} Edit */
/** @typedef {{draw: (main: HTMLElement, page: Page) => void | Promise<void>, leave?: () => void}} Step */

/** @type {Record<string, Step>} */
const MODULES = { open, columns, tables, trade, promise, collect, results, publish };

/** @type {State | null} */
let state = null;
let token = '';
let shown = '';

/** The study and the step of the address. */
function place() {
  const [, study = '', step = 'open'] = location.hash.slice(1).split('/').map(decodeURIComponent);
  return { study, step: ORDER.includes(step) ? step : 'open' };
}

/**
 * @param {string} study
 * @param {string} step
 */
const address = (study, step) => `#${[token, study, step].map(encodeURIComponent).join('/')}`;

/**
 * What is said below the name of a step.
 * @param {string} step
 */
function note(step) {
  if (!state) return '';
  const { study, columns: all, data, plan, collect: drawn, survey } = state;
  const used = all.filter(({ role }) => role !== 'out').length;
  /** @type {Record<string, () => string>} */
  const notes = {
    open: () => study.data ?? t('rail.written'),
    columns: () => (used ? (all.length > used ? t('rail.used_of', { used, out: all.length - used }) : several('rail.used', used)) : ''),
    tables: () => (study.tables.length ? several('rail.n_tables', study.tables.length) : ''),
    trade: () => (plan?.problem ? t('rail.damaged') : plan?.epsilon ? t('rail.epsilon', { epsilon: plan.epsilon.toFixed(1) }) : ''),
    promise: () => (plan?.fingerprint ? study.languages.join(', ') : ''),
    collect: () => (drawn.draws.length ? several('rail.drawn', drawn.draws.length) : survey.address ? t('rail.asking') : ''),
    results: () => (drawn.responses && data === null ? several('rail.answers', drawn.draws[0]?.records ?? 0) : ''),
    publish: () => (state?.published ? t('rail.published') : ''),
  };
  return notes[step]();
}

/**
 * Whether a step is done.
 * @param {string} step
 */
function done(step) {
  if (!state) return false;
  const { study, columns: all, plan, collect: drawn } = state;
  const ready = Boolean(plan?.fingerprint && (plan.current || state.locked));
  /** @type {Record<string, boolean>} */
  const all_done = {
    open: Boolean(study.data) || all.length > 0,
    columns: all.length > 0,
    tables: study.tables.length > 0,
    trade: ready,
    promise: ready,
    collect: drawn.responses,
    results: drawn.responses,
    publish: state.published,
  };
  return all_done[step];
}

function drawRail() {
  const { study, step } = place();
  const rail = byId('rail');
  rail.hidden = !state;
  rail.setAttribute('aria-label', t('rail.label'));
  const item = (/** @type {string} */ name, /** @type {number} */ at) => {
    const here = name === step;
    const small = note(name);
    return h('li', { class: `${here ? 'here' : ''} ${done(name) ? 'done' : ''}` },
      h('a', { href: address(study, name), id: `rail-${name}`, 'aria-current': here && 'step' },
        h('span', { class: 'number', 'aria-hidden': 'true' }, done(name) && !here ? '✓' : String(at + 1)),
        h('span', {}, t(`rail.${name}`), done(name) && !here && h('span', { class: 'unseen' }, ` (${t('rail.is_done')})`),
          small && h('small', {}, small))));
  };
  const at = ORDER.indexOf(step);
  fill(rail, h('p', { class: 'narrow' }, t('rail.narrow', { n: at + 1, of: ORDER.length })), h('ol', {}, ORDER.map(item)));
}

function drawTop() {
  const undo = state && state.undo > 0 && button(t('top.undo'), undoLast, { kind: 'quiet', id: 'undo' });
  fill(byId('top'),
    h('strong', {}, h('a', { href: `#${token}`, class: 'brand' }, 'candor studio')),
    state && h('span', { class: 'study' }, state.title),
    h('span', { class: 'space' }),
    undo && [undo, h('kbd', { 'aria-hidden': 'true' }, 'Ctrl Z')],
    state && h('span', { class: saved ? 'saved' : 'unsaved verdict bad' }, t(saved ? 'top.saved' : 'top.unsaved')),
    h('details', { class: 'local' }, h('summary', {}, icon('lock'), ' ', t('top.local')),
      h('p', {}, t('top.local_text', { folder: state?.folder ?? '' }))));
}

function drawCommand() {
  const command = state?.commands[place().step] ?? '';
  const footer = byId('command');
  footer.hidden = !state;
  footer.setAttribute('aria-label', t('command.label'));
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    say(t('command.copied'));
  };
  fill(footer, h('span', {}, t('command.label')), command
    ? [h('code', { title: command, tabindex: '0', 'aria-label': command }, command), button(t('command.copy'), copy, { kind: 'quiet', id: 'copy' })]
    : h('span', {}, t('command.none')));
}

/** @param {string} text */
function say(text) {
  const place = byId('announce');
  place.textContent = '';
  setTimeout(() => { place.textContent = text; }, 50);
}

const problem = h('div', { id: 'problem' });

function clear() {
  problem.replaceChildren();
}

/** @param {unknown} error */
function fail(error) {
  if (!(error instanceof Problem)) throw error;
  if (error.kind === 'stopped') return;
  const text = error.kind === 'ended' ? t('problem.ended') : error.message;
  problem.replaceChildren(notice('bad', text, { role: 'alert' }));
  problem.scrollIntoView({ block: 'nearest' });
  if (error.kind === 'changed' && state) void refresh();
}

/** @param {State} next */
function show(next) {
  state = next;
  void draw();
}

async function refresh() {
  const { study } = place();
  // A large table that is read again takes a while.
  const working = h('div', {});
  let end = () => {};
  const late = setTimeout(() => {
    byId('main').replaceChildren(working);
    end = progress(working, t('open.reading_study', { study }), () => act(study, 'task'), () => void act(study, 'stop'));
  }, 500);
  try {
    state = study ? await act(study, 'state') : null;
  } catch (error) {
    state = null;
    shown = '';
    await draw();
    fail(error);
    if (study && error instanceof Problem) problem.append(h('p', { class: 'groups' }, error.kind === 'input' && button(t('problem.undo'), () => undoOf(study), { id: 'undo-damaged' }), button(t('problem.studies'), () => { location.hash = token; }, { id: 'all-studies' })));
    return;
  } finally {
    clearTimeout(late);
    end();
  }
  if (working.isConnected) shown = '';
  await draw();
}

/** @type {Promise<unknown>} */
let before = Promise.resolve();

/** Whether the last change is in a file. */
let saved = true;

/**
 * Does what changes files, after everything that was begun before: each change is of the study that its predecessors left.
 * @param {() => Promise<any>} work gives the state, or an object that has it
 */
function inTurn(work) {
  const turn = before.then(async () => {
    clear();
    try {
      const answer = await work();
      saved = true;
      show(answer.state ?? answer);
      return answer;
    } catch (error) {
      // What is refused is told; what did not come to a file stands on the page all the same.
      saved = !(error instanceof Problem && ['ended', 'file'].includes(error.kind));
      drawTop();
      fail(error);
      return null;
    }
  });
  before = turn;
  return turn;
}

const undoOf = (/** @type {string} */ study) => inTurn(async () => {
  const answer = await act(study, 'undo');
  say(t('top.undone'));
  return answer;
});

const undoLast = () => undoOf(page.state.name);

/** @type {Page} */
const page = {
  get state() {
    return /** @type {State} */ (state);
  },
  edit: async (change) => {
    await inTurn(() => act(page.state.name, 'edit', { edit: typeof change === 'function' ? change(page.state) : change, revision: page.state.study.revision }));
  },
  change: (action, body = {}) => inTurn(() => act(page.state.name, action, { ...body, revision: page.state.study.revision })),
  ask: (action, body = {}, signal = undefined) => act(page.state.name, action, body, signal),
  go: (step) => { location.hash = address(page.state.name, step); },
  enter: (name, step = 'open') => { location.hash = address(name, step); },
  show,
  fail,
  clear,
  say,
};

async function draw() {
  const { study, step } = place();
  const key = `${study}/${step}`;
  drawTop();
  drawRail();
  drawCommand();
  const main = byId('main');
  const moved = key !== shown;
  if (moved) {
    MODULES[shown.split('/').pop() ?? '']?.leave?.();
    clear();
    main.replaceChildren(problem);
    window.scrollTo(0, 0);
  }
  shown = key;
  document.title = `${state ? `${t(`rail.${step}`)} · ${state.title} · ` : ''}candor studio`;
  const body = main.querySelector('#body') ?? h('div', { id: 'body' });
  if (!body.parentNode) main.append(body);
  try {
    if (state || step === 'open') await MODULES[step].draw(/** @type {HTMLElement} */ (body), state ? page : rootPage());
  } catch (error) {
    fail(error);
  }
  if (moved) body.querySelector('h1')?.focus({ preventScroll: true });
}

/**
 * The page before a study is open.
 * @returns {Page}
 */
const rootPage = () => ({ ...page, state: /** @type {any} */ (null) });

window.addEventListener('hashchange', () => void arrive());
document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !isText(event.target) && state?.undo) {
    event.preventDefault();
    void undoLast();
  }
});
// Another window may have changed the study.
window.addEventListener('focus', async () => {
  if (!state) return;
  const next = await act(state.name, 'state').catch(() => null);
  if (next && state && next.name === state.name && next.study.revision !== state.study.revision) show(next);
});

async function arrive() {
  const given = decodeURIComponent(location.hash.slice(1).split('/')[0]);
  if (given) token = given;
  use(token);
  if (state && state.name === place().study) await draw();
  else await refresh();
}

await load();
byId('skip').textContent = t('page.skip');
await arrive();
