// Step 5: the page for respondents, languages side by side; its words can be changed, its numbers cannot.

import { fill, h } from '../dom.js';
import { check, field, heading, notice, steps } from '../parts.js';
import { ofHundred } from '../numbers.js';
import { t } from '../words.js';
import { asked } from './columns.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {{name: string, usual: string, own: string | null}} Text */
/** @typedef {{name: string, categories: number, worst_posterior: number}} Certified */
/** @typedef {{language: string, texts: Text[], text: string, numbers: Certified[]}} Spoken */
/** @typedef {{languages: Spoken[], known: string[], questions: {public: string[], protected: string[]}}} Promised */

/** The texts that are shown first; the others are folded. */
const FIRST = ['title', 'chance', 'took_part'];

/**
 * @param {HTMLElement} main
 * @param {Page} page
 */
export async function draw(main, page) {
  const head = heading(t('promise.title'), t('promise.lead'));
  const { state } = page;
  if (!state.plan?.fingerprint) {
    fill(main, ...head, notice('plain', state.plan?.problem ?? t('page.plan_first')), steps(page, 'promise', null));
    return;
  }
  let promised;
  try {
    promised = /** @type {Promised} */ (await page.ask('promise'));
  } catch (error) {
    fill(main, ...head, steps(page, 'promise', null));
    page.fail(error);
    return;
  }
  const old = !state.plan.current && !state.locked && notice('warn', t('promise.old_plan'));
  fill(main, ...head, old, h('div', { class: 'row' }, languages(page, promised)), h('div', { class: 'side' }, promised.languages.map((one) => spoken(page, one))),
    h('h2', {}, t('promise.true')), h('ul', { class: 'checks' }, checks(page, promised)),
    steps(page, 'promise', { text: t('promise.next') }));
}

/**
 * @param {Page} page
 * @param {Promised} promised
 */
function languages(page, { known }) {
  const { languages: on } = page.state.study;
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: 'language' });
  const box = (/** @type {string} */ code) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: `language-${code}`, checked: on.includes(code), disabled: code === 'en',
    onchange: () => void page.edit(({ study }) => ({ do: 'languages', languages: on.includes(code) ? study.languages.filter((one) => one !== code) : [...study.languages, code] })) }), names.of(code) ?? code);
  return h('fieldset', { class: 'languages' }, h('legend', {}, t('promise.languages')), ['en', ...known.filter((code) => code !== 'en')].map(box));
}

/**
 * @param {Page} page
 * @param {Spoken} one
 */
function spoken(page, { language, texts }) {
  const line = (/** @type {Text} */ { name, usual, own }) => field(t(`promise.text_${FIRST.includes(name) ? name : 'other'}`, { name: name.replaceAll('_', ' ') }), `text-${language}-${name}`, own ?? usual,
    (text) => page.edit({ do: 'sheet', language, name, text: text === usual ? '' : text }), { lines: 2, lang: language });
  const of = (/** @type {string} */ name) => texts.find((text) => text.name === name);
  const first = FIRST.map(of).filter((text) => text !== undefined);
  const frame = h('iframe', { title: t('promise.preview', { language }), lang: language, sandbox: 'allow-scripts' });
  const place = h('p', {});
  void page.ask('page', { language }).then(({ address }) => {
    frame.src = address;
    fill(place, h('a', { href: address, target: '_blank', rel: 'noopener' }, t('promise.full')));
  }).catch(page.fail);
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: 'language' });
  return h('section', { class: 'card', 'aria-label': names.of(language) ?? language }, h('h2', {}, names.of(language) ?? language),
    first.map(line), language !== 'en' && translations(page, language),
    h('details', {}, h('summary', {}, t('promise.all_texts', { n: texts.length - first.length })), h('p', { class: 'hint' }, t('promise.braces')), texts.filter(({ name }) => !FIRST.includes(name)).map(line)),
    h('h3', {}, t('promise.as_seen')), frame, place);
}

/**
 * The questions in another language.
 * @param {Page} page
 * @param {string} language
 */
function translations(page, language) {
  const own = page.state.texts[language]?.questions ?? {};
  const used = page.state.columns.filter(({ role }) => role !== 'out');
  const line = (/** @type {import('../api.js').Column} */ { name }, /** @type {number} */ at) => field(asked(page, name), `asked-${language}-${at}`, own[name]?.text ?? '',
    (text) => page.edit({ do: 'question', name, language, text, answers: own[name]?.answers ?? {} }), { lang: language });
  const done = used.filter(({ name }) => own[name]?.text).length;
  return h('details', {}, h('summary', {}, t('promise.questions', { done, of: used.length })), used.map(line));
}

/**
 * @param {Page} page
 * @param {Promised} promised
 */
function checks(page, { languages: [first], questions: { public: open } }) {
  const told = [...first.numbers].sort((a, b) => b.worst_posterior - a.worst_posterior)[0];
  return [
    check('good', [t('promise.numbers_agree', { n: first.numbers.length })]),
    open.length ? check('warn', [t('promise.public', { names: open.map((name) => asked(page, name)).join(', ') })]) : check('good', [t('promise.no_public')]),
    told && check('warn', [t('promise.sure', { name: asked(page, told.name), n: ofHundred(told.worst_posterior) })]),
  ].filter(Boolean);
}
