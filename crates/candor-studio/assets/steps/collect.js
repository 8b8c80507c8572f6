// Step 6: asking people, or protecting a file; once for the same people.

import * as api from '../api.js';
import { fill, h } from '../dom.js';
import { button, check, heading, icon, notice, progress, select, steps } from '../parts.js';
import { time } from '../numbers.js';
import { count, several, t } from '../words.js';

/** @typedef {import('../main.js').Page} Page */

/** @type {ReturnType<typeof setInterval> | undefined} */
let timer;

/** Ends asking how many have answered. */
export function leave() {
  clearInterval(timer);
}

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export function draw(main, page) {
  leave();
  const { state } = page;
  const { collect: drawn, plan, survey } = state;
  const head = heading(t('collect.title'), t('collect.lead'));
  if (!plan?.fingerprint) {
    fill(main, ...head, notice('plain', plan?.problem ?? t('page.plan_first')), steps(page, 'collect', null));
    return;
  }
  const working = h('div', {});
  fill(main, ...head, !plan.current && !state.locked && plan.method !== 'device' && notice('warn', t('promise.old_plan')),
    h('div', { class: 'three' }, web(page), cards(page), file(page, working)), working,
    survey.exists && !survey.fetched && running(page), drawn.draws.length > 0 && done(page, working),
    steps(page, 'collect', { text: t('collect.next'), ready: drawn.responses, reason: t('collect.no_answers') }));
}

/** @param {Page} page */
function web(page) {
  const { survey, collect: drawn } = page.state;
  const taken = drawn.draws.length > 0 && !survey.exists;
  const start = () => page.change('survey-start');
  return h('section', { class: `card ${survey.exists ? 'chosen' : ''}`, 'aria-labelledby': 'web' }, h('h2', { id: 'web' }, t('collect.web')), h('p', {}, t('collect.web_text')),
    h('p', { class: 'verdict good' }, icon('good'), ' ', t('collect.strongest')),
    survey.fetched ? h('p', { class: 'verdict good' }, icon('good'), ' ', t('collect.closed'))
      : button(survey.address ? t('collect.runs') : survey.exists ? t('collect.start_again') : t('collect.start'), start, { kind: 'secondary', id: 'start', disabled: taken || Boolean(survey.address) }),
    !survey.installed && h('p', { class: 'hint' }, t('collect.not_installed')));
}

/** @param {Page} page */
function cards(page) {
  const { plan, locked, survey } = page.state;
  const made = plan?.method === 'device';
  const input = h('input', { type: 'file', id: 'answers-file', class: 'unseen', accept: '.csv', 'aria-label': t('collect.import'), onchange: async () => {
    if (!input.files?.[0]) return;
    try {
      page.show(await api.answers(page.state.name, input.files[0]));
    } catch (error) {
      page.fail(error);
    }
  } });
  const open = async () => {
    const { address } = await page.ask('ticket', { file: 'cards.html' });
    window.open(address, '_blank', 'noopener');
  };
  return h('section', { class: `card ${made ? 'chosen' : ''}`, 'aria-labelledby': 'cards' }, h('h2', { id: 'cards' }, t('collect.cards')), h('p', {}, t('collect.cards_text')),
    h('p', { class: 'verdict warn' }, icon('warn'), ' ', t('collect.cards_plan')),
    made ? [button(t('collect.show_cards'), open, { id: 'show-cards' }), !page.state.collect.responses && [input, button(t('collect.import'), () => input.click(), { id: 'import' }), h('p', { class: 'hint' }, t('collect.import_hint'))]]
      : button(t('collect.print'), () => page.change('cards'), { id: 'make-cards', disabled: locked || survey.exists }));
}

/**
 * @param {Page} page
 * @param {HTMLElement} working
 */
function file(page, working) {
  const { state } = page;
  const { data, study, collect: drawn, survey } = state;
  const last = drawn.draws.filter(({ way }) => way === 'file').at(-1);
  const kept = [['', t('collect.none')], ...state.columns.filter(({ role }) => role === 'out').map(({ name }) => [name, name])].filter(([name], at) => at === 0 || name);
  const choose = (/** @type {'weights' | 'strata' | 'psu'} */ name) => select(t(`collect.${name}`), name, /** @type {[string, string][]} */ (kept), study.sample[name] ?? '',
    (value) => page.edit((now) => ({ do: 'sample', sample: { ...now.study.sample, [name]: value || null } })));
  return h('section', { class: `card ${last ? 'chosen' : ''}`, 'aria-labelledby': 'held' }, h('h2', { id: 'held' }, t('collect.file')), h('p', {}, t('collect.file_text', { file: study.data ?? t('collect.your_file') })),
    h('p', { class: 'verdict warn' }, icon('warn'), ' ', t('collect.original')),
    !data ? h('p', { class: 'hint' }, t('collect.no_file')) : last ? h('p', { class: 'verdict good' }, icon('good'), ' ', t('collect.done_on', { time: time(last.time) }))
      : [h('details', {}, h('summary', {}, t('collect.sample')), h('p', { class: 'hint' }, t('collect.sample_hint')), ['weights', 'strata', 'psu'].map((name) => choose(/** @type {'weights'} */ (name)))),
        button(t('collect.protect'), () => protect(page, working, null), { kind: 'primary', id: 'protect', disabled: survey.exists })]);
}

/**
 * @param {Page} page
 * @param {HTMLElement} working
 * @param {string | null} confirmed
 */
async function protect(page, working, confirmed) {
  page.clear();
  const end = progress(working, t('collect.working'), () => page.ask('task'), () => void page.ask('stop'));
  try {
    await page.change('randomize', { confirmed });
  } finally {
    end();
  }
}

/** @param {Page} page */
function running(page) {
  const { survey } = page.state;
  const said = h('span', {}, '');
  const look = async () => {
    const { responses } = await page.ask('responses').catch(() => ({ responses: null }));
    if (responses !== null) said.textContent = several('collect.have_answered', responses);
  };
  void look();
  timer = setInterval(() => void look(), 10_000);
  return h('section', { class: 'card wide', 'aria-labelledby': 'running' }, h('h2', { id: 'running' }, survey.address ? t('collect.is_running') : t('collect.is_paused')),
    survey.address && h('p', {}, t('collect.at'), ' ', h('a', { href: survey.address, target: '_blank', rel: 'noopener', id: 'survey-address' }, survey.address)),
    h('p', {}, t('collect.this_computer')), h('p', { role: 'status' }, said),
    h('div', { class: 'row' }, survey.address && button(t('collect.pause'), () => page.change('survey-pause'), { id: 'pause' }), button(t('collect.fetch'), () => page.change('survey-fetch'), { kind: 'primary', id: 'fetch' })));
}

/**
 * @param {Page} page
 * @param {HTMLElement} working
 */
function done(page, working) {
  const { collect: drawn, data } = page.state;
  const last = drawn.draws[drawn.draws.length - 1];
  const input = h('input', { type: 'text', id: 'confirm', autocomplete: 'off' });
  const again = last.way === 'file' && data && drawn.next && h('div', { class: 'notice bad' }, icon('bad'), h('div', {}, h('p', {}, drawn.next.text),
    h('details', {}, h('summary', {}, t('collect.again')), h('label', { for: 'confirm' }, t('collect.type', { text: drawn.next.type })), ' ', input, ' ',
      button(t('collect.draw_again'), () => protect(page, working, input.value.trim()), { id: 'again' }))));
  const row = (/** @type {string} */ name, /** @type {string | Node} */ value) => [h('dt', {}, t(`collect.${name}`)), h('dd', {}, value)];
  return h('section', { class: 'card wide', 'aria-labelledby': 'drawn' }, h('h2', { id: 'drawn' }, icon('lock'), ' ', several('collect.drawn', drawn.draws.length)),
    h('div', { class: 'halves' }, h('dl', {}, row('plan', h('code', {}, last.plan.slice(0, 19))), row('people', count(last.records)), row('when', time(last.time)),
      row('promise', drawn.epsilon === null ? t('collect.unbounded') : t('collect.epsilon', { epsilon: drawn.epsilon.toFixed(1), times: drawn.times ?? '' }))), again),
    last.way === 'file' && [h('h3', {}, t('collect.before')), h('ul', { class: 'checks' }, check('good', [t('collect.only_answers')]), check('warn', [t('collect.order', { file: page.state.study.data ?? '' })]))]);
}
