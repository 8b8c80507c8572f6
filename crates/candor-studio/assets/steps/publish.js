// Step 8: the words around the results, and the folder that is published.

import { byId, fill, h } from '../dom.js';
import { button, check, field, heading, notice, steps } from '../parts.js';
import { t } from '../words.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {{verdict: {verdict: string, verdict_text: string} | null, warnings: string[], epsilon: number | null, questions: {named: number, all: number}, published: boolean}} Checks */

/** What is told of the survey. */
const FACTS = ['sponsor', 'population', 'sampling', 'mode', 'dates', 'response_rate'];

/** @type {{folder: string, files: string[]} | null} */
let published = null;
let of = '';

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const head = heading(t('publish.title'), t('publish.lead'));
  const { state } = page;
  if (of !== state.name) [published, of] = [null, state.name];
  if (!state.collect.responses) {
    fill(main, ...head, notice('plain', t('results.none')), steps(page, 'publish', null));
    return;
  }
  const { study } = state;
  const about = state.texts.en?.about ?? {};
  const frame = h('iframe', { title: t('publish.preview'), sandbox: 'allow-scripts', class: 'report' });
  const list = h('ul', { class: 'checks' });
  const place = h('p', {});
  const facts = FACTS.map((name) => field(t(`publish.${name}`), `about-${name}`, about[name] ?? '', (text) => page.edit({ do: 'about', language: 'en', name, text })));
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
      h('h2', {}, t('publish.about')), h('p', { class: 'hint' }, t('publish.about_hint')), facts,
      h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: 'with-responses', checked: study.publish_responses, onchange: () => void page.edit({ do: 'publish-responses', publish: !study.publish_responses }) }), t('publish.responses')),
      h('div', { class: 'row' }, button(t('publish.save'), save, { kind: 'primary', id: 'publish' })), done),
    h('div', {}, h('h2', {}, t('publish.before')), list, h('h2', {}, t('publish.preview')), frame, place)),
  steps(page, 'publish', null));
  try {
    const { address } = await page.ask('preview');
    frame.src = address;
    fill(place, h('a', { href: address, target: '_blank', rel: 'noopener' }, t('promise.full')));
    fill(list, checks(await page.ask('checks')));
  } catch (error) {
    page.fail(error);
  }
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
  return notice('good', [h('p', {}, t('publish.done', { folder: published.folder })), h('ul', { class: 'plain' }, published.files.map(line))]);
}

/** @param {string} file */
function what(file) {
  if (file.startsWith('promise')) return 'promise';
  if (file.startsWith('texts')) return 'texts';
  return file.split('.')[0];
}

/** @param {Checks} found */
function checks({ verdict, warnings, epsilon, questions }) {
  return [
    check('good', [epsilon === null ? t('publish.no_epsilon') : t('publish.epsilon', { epsilon: epsilon.toFixed(1) })]),
    verdict && check(verdict.verdict === 'ok' ? 'good' : 'warn', [verdict.verdict_text]),
    ...warnings.map((warning) => check('warn', [warning])),
    check(questions.named === questions.all ? 'good' : 'warn', [t('publish.named', questions)]),
  ].filter((item) => item !== null);
}
