// Step 8: the words around the results, and the folder that is published.

import { byId, fill, h } from '../dom.js';
import { button, check, field, heading, notice, select, steps, whenLeft } from '../parts.js';
import { megabytes } from '../numbers.js';
import { t } from '../words.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {{verdict: {verdict: string, verdict_text: string} | null, precise: boolean, warnings: string[], epsilon: number | null, questions: {named: number, all: number}, published: boolean}} Checks */

/** What is told of the survey. */
const FACTS = ['sponsor', 'population', 'sampling', 'mode', 'dates', 'response_rate'];

/** @typedef {{text: string, read?: string, problem?: string}} Point */
/** @typedef {{own: boolean, points: Point[], proposed: string[], shares: {share: string, read: string}[]}} Points */

/** @type {{folder: string, files: string[], archive: string, bytes: number} | null} */
let published = null;
/** What was shown last, which stays until there is something newer. @type {{address: string, points: Points, checks: Checks} | null} */
let last = null;
let of = '';

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const head = heading(t('publish.title'), t('publish.lead'));
  const { state } = page;
  if (of !== state.name) [published, last, of] = [null, null, state.name];
  if (!state.collect.responses) {
    fill(main, ...head, notice('plain', t('results.none')), steps(page, 'publish', null));
    return;
  }
  const { study } = state;
  const about = state.texts.en?.about ?? {};
  // A frame of its own for each page, so that the way back leads to the step before.
  const frame = h('div', {});
  const see = (/** @type {string} */ address) => fill(frame, h('iframe', { title: t('publish.preview'), sandbox: 'allow-scripts', class: 'report', src: address }));
  const list = h('ul', { class: 'checks' });
  const place = h('p', {});
  const facts = FACTS.map((name) => field(t(`publish.${name}`), `about-${name}`, about[name] ?? '', (text) => page.edit({ do: 'about', language: 'en', name, text })));
  const main_points = h('div', {});
  const done = h('div', { role: 'status', id: 'done' }, files(page));
  const save = async () => {
    const answer = await page.change('publish');
    if (!answer) return;
    published = answer.done;
    fill(byId('done'), files(page));
    page.say(t('publish.said'));
  };
  fill(main, ...head, h('div', { class: 'halves' },
    h('div', {}, field(t('publish.headline'), 'title', state.title, (title) => page.edit({ do: 'title', title }), { hint: t('publish.headline_hint') }),
      main_points,
      field(t('publish.notes'), 'about-notes', about.notes ?? '', (text) => page.edit({ do: 'about', language: 'en', name: 'notes', text }), { lines: 3, hint: t('publish.notes_hint') }),
      h('h2', {}, t('publish.about')), h('p', { class: 'hint' }, t('publish.about_hint')), facts,
      h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: 'with-responses', checked: study.publish_responses, onchange: () => void page.edit({ do: 'publish-responses', publish: !study.publish_responses }) }), t('publish.responses')),
      h('div', { class: 'row' }, button(t('publish.save'), save, { kind: 'primary', id: 'publish' })), done),
    h('div', {}, h('h2', {}, t('publish.before')), list, h('h2', {}, t('publish.preview')), frame, place)),
  steps(page, 'publish', null));
  const show = () => {
    if (!last) return;
    fill(main_points, points(page, last.points));
    see(last.address);
    fill(place, h('a', { href: last.address, target: '_blank', rel: 'noopener' }, t('promise.full')));
    fill(list, checks(last.checks));
  };
  show();
  try {
    const found = await page.ask('points');
    // Its problems are told with the points.
    fill(main_points, points(page, found));
    if (found.points.some((/** @type {Point} */ { problem }) => problem)) return;
    last = { points: found, address: (await page.ask('preview')).address, checks: await page.ask('checks') };
    if (main.isConnected && main.contains(frame)) show();
  } catch (error) {
    page.fail(error);
  }
}

/**
 * The main points of the report: sentences whose numbers stay those of the tables.
 * @param {Page} page
 * @param {Points} found
 */
function points(page, { own, points: all, proposed, shares }) {
  const save = (/** @type {string[] | null} */ list) => page.edit({ do: 'points', language: 'en', points: list });
  const texts = all.map(({ text }) => text);
  const head = h('h2', {}, t('publish.points'));
  const example = shares[0]?.share ?? '{smoking: daily}';
  if (!shares.length && !all.length) return [head, h('p', { class: 'hint' }, t('publish.points_rough'))];
  if (!own) return [head, h('p', { class: 'hint' }, t('publish.points_found')), button(t('publish.edit_points'), () => save(proposed), { id: 'edit-points' })];
  const change = (/** @type {number} */ at, /** @type {string} */ text) => save(texts.map((old, place) => (place === at ? text : old)));
  const swap = (/** @type {number} */ from, /** @type {number} */ to) => () => save(texts.map((old, at) => (at === from ? texts[to] : at === to ? texts[from] : old)));
  const choices = shares.map(({ share, read }) => /** @type {[string, string]} */ ([share, `${share.slice(1, -1)}, ${read}`]));
  const row = (/** @type {Point} */ { text, read, problem }, /** @type {number} */ at) => {
    const area = h('textarea', { id: `point-${at}`, value: text, rows: 3, 'aria-label': t('publish.point', { n: at + 1 }), 'aria-describedby': `point-${at}-read`, ...whenLeft(text, (now) => change(at, now)) });
    const put = (/** @type {string} */ share) => change(at, `${area.value.trim()} ${share}`);
    const arrow = (/** @type {number} */ to, /** @type {string} */ sign, /** @type {string} */ label) => button(sign, swap(at, to), { id: `point-${at}-${to < at ? 'up' : 'down'}`, disabled: to < 0 || to >= texts.length, label: `${label}: ${t('publish.point', { n: at + 1 })}` });
    return h('li', { class: 'point' }, h('div', {}, area, h('p', { id: `point-${at}-read`, class: problem ? 'verdict bad' : 'quiet' }, problem ?? read ?? ''),
      select(t('publish.add_share'), `share-${at}`, [['', t('tables.choose_share')], ...choices], '', (share) => share && put(share))),
    h('span', { class: 'arrows' }, arrow(at - 1, '↑', t('column.up')), arrow(at + 1, '↓', t('column.down')),
      button('×', () => save(texts.filter((_, place) => place !== at)), { kind: 'quiet', id: `point-${at}-remove`, label: t('publish.remove_point', { n: at + 1 }) })));
  };
  return [head, h('p', { class: 'hint' }, t('publish.points_hint', { example })), all.length ? h('ol', { class: 'points' }, all.map(row)) : h('p', { class: 'hint' }, t('publish.points_none')),
    h('p', { class: 'groups' }, button(t('publish.add_point'), () => save([...texts, proposed.find((one) => !texts.includes(one)) ?? example]), { id: 'add-point' }),
      button(t('publish.own_points'), () => save(null), { kind: 'quiet', id: 'own-points' }))];
}

/**
 * What was published, to be looked at.
 * @param {Page} page
 */
function files(page) {
  if (!published) return null;
  const open = (/** @type {string} */ file) => async () => {
    try {
      const { address } = await page.ask('ticket', { file: `publication/${file}` });
      window.open(address, '_blank', 'noopener');
    } catch (error) {
      page.fail(error);
    }
  };
  const line = (/** @type {string} */ file) => h('li', {}, button(file, open(file), { kind: 'quiet' }), ' ', h('small', {}, t(`publish.is_${what(file)}`)));
  const { folder, archive, bytes, files: all } = published;
  const download = async () => {
    try {
      const { address } = await page.ask('ticket', { file: archive });
      h('a', { href: address, download: archive }).click();
    } catch (error) {
      page.fail(error);
    }
  };
  return notice('good', [h('p', {}, t('publish.done', { folder })), button(`${archive} (${megabytes(bytes)})`, download, { id: 'download' }), h('ul', { class: 'plain' }, all.map(line))]);
}

/** @param {string} file */
function what(file) {
  if (file.startsWith('promise')) return 'promise';
  if (file.startsWith('texts')) return 'texts';
  return file.split('.')[0];
}

/** @param {Checks} found */
function checks({ verdict, precise, warnings, epsilon, questions }) {
  return [
    check('good', [epsilon === null ? t('publish.no_epsilon') : t('publish.epsilon', { epsilon: epsilon.toFixed(1) })]),
    verdict && check(precise ? 'good' : 'warn', [verdict.verdict_text]),
    ...warnings.map((warning) => check('warn', [warning])),
    check(questions.named === questions.all ? 'good' : 'warn', [t('publish.named', questions)]),
  ].filter((item) => item !== null);
}
