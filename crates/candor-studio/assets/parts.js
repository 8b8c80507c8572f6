// Parts that several steps are made of.

import { fresh, h, s } from './dom.js';
import { megabytes } from './numbers.js';
import { count, t } from './words.js';

/**
 * @typedef {object} ButtonOptions
 * @property {'primary' | 'secondary' | 'quiet'} [kind]
 * @property {string} [id]
 * @property {boolean} [disabled]
 * @property {string} [described] the id of what says why
 * @property {string} [title]
 * @property {string} [label] what a screen reader says, where the text is not enough
 */

/**
 * @param {string} text
 * @param {() => unknown} act
 * @param {ButtonOptions} [options]
 */
export function button(text, act, { kind = 'secondary', id, disabled = false, described, title, label } = {}) {
  return h('button', {
    type: 'button',
    class: kind,
    id,
    title,
    'aria-label': label,
    disabled,
    'aria-describedby': described,
    onclick: () => void act(),
  }, text);
}

/** The same for what leads elsewhere. */
export const link = button;

const ICONS = {
  lock: 'M4 7V5a4 4 0 0 1 8 0v2M3 7h10v7H3z',
  good: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1M5 8.2l2 2 4-4.4',
  warn: 'M8 2 1.2 14h13.6zM8 6.5v3.5M8 12v.3',
  bad: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1M5.5 5.5l5 5M10.5 5.5l-5 5',
  eye: 'M1 8s2.6-4.5 7-4.5S15 8 15 8s-2.6 4.5-7 4.5S1 8 1 8M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4',
  upload: 'M8 11V2M4.5 5.5 8 2l3.5 3.5M2 11v3h12v-3',
};

/** @param {keyof typeof ICONS} name */
export const icon = (name) =>
  s('svg', { viewBox: '0 0 16 16', class: `icon ${name}`, 'aria-hidden': 'true' }, s('path', { d: ICONS[name] }));

/**
 * A sentence that stands out.
 * @param {'good' | 'warn' | 'bad' | 'plain'} kind
 * @param {string | Node | (string | Node)[]} text
 * @param {Record<string, unknown>} [properties]
 */
export const notice = (kind, text, properties = {}) =>
  h('div', { class: `notice ${kind}`, ...properties }, kind !== 'plain' && icon(kind), h('div', {}, text));

/**
 * A heading with what it is about; it takes the focus when the step begins.
 * @param {string} title
 * @param {string} text
 */
export const heading = (title, text) => [h('h1', { tabindex: '-1' }, title), h('p', { class: 'lead' }, text)];

/**
 * A verdict in a word with its sign.
 * @param {string} grade
 */
export function verdict(grade) {
  const kind = /** @type {Record<string, 'good' | 'warn' | 'bad'>} */ ({ precise: 'good', good: 'good', rough: 'warn', 'too-imprecise': 'bad' })[grade] ?? 'bad';
  return h('span', { class: `verdict ${kind}` }, icon(kind), ' ', t(`grade.${grade.replace('-', '_')}`));
}

/**
 * One of several, as buttons side by side.
 * @param {string} legend
 * @param {string} id
 * @param {[string, string][]} choices value and text
 * @param {string} chosen
 * @param {(value: string) => unknown} choose
 * @param {{disabled?: boolean}} [options]
 */
export function choice(legend, id, choices, chosen, choose, { disabled = false } = {}) {
  return h('fieldset', { class: 'choice', disabled }, h('legend', { class: 'unseen' }, legend),
    choices.map(([value, text]) => h('label', { class: value === chosen ? 'chosen' : '' },
      h('input', { type: 'radio', name: id, id: `${id}-${value}`, value, checked: value === chosen, onchange: () => void choose(value) }), text)));
}

/**
 * A choice of one from a list.
 * @param {string} label
 * @param {string} id
 * @param {[string, string][]} choices
 * @param {string} chosen
 * @param {(value: string) => unknown} choose
 */
export const select = (label, id, choices, chosen, choose) =>
  h('label', { class: 'field' }, h('span', {}, label),
    h('select', { id, value: chosen, onchange: (/** @type {Event} */ event) => void choose(/** @type {HTMLSelectElement} */ (event.target).value) },
      choices.map(([value, text]) => h('option', { value, selected: value === chosen }, text))));

/**
 * Listeners that save a text when it is left: a browser does not call it a change where the page put back what was typed.
 * @param {string} value
 * @param {(value: string) => unknown} save
 */
export function whenLeft(value, save) {
  let last = value;
  const left = (/** @type {Event} */ event) => {
    const text = /** @type {HTMLInputElement} */ (event.target).value;
    if (text === last) return;
    last = text;
    void save(text);
  };
  return { onchange: left, onblur: left };
}

/**
 * A line of text that is saved when it is left.
 * @param {string} label
 * @param {string} id
 * @param {string} value
 * @param {(value: string) => unknown} save
 * @param {{type?: string, hint?: string, placeholder?: string, lines?: number, lang?: string}} [options]
 */
export function field(label, id, value, save, { type = 'text', hint, placeholder, lines, lang } = {}) {
  const common = { id, value, placeholder, lang, ...whenLeft(value, save), 'aria-describedby': hint ? `${id}-hint` : undefined };
  return h('div', { class: 'field' }, h('label', { for: id }, label),
    lines ? h('textarea', { ...common, rows: lines }) : h('input', { ...common, type, autocomplete: 'off' }),
    hint && h('small', { id: `${id}-hint` }, hint));
}

/**
 * What a check says.
 * @param {'good' | 'warn' | 'bad'} kind
 * @param {(Node | string)[]} text
 * @param {Node | false} [way]
 */
export const check = (kind, text, way = false) => h('li', {}, icon(kind), h('span', {}, h('span', { class: 'unseen' }, `${t(`check.${kind}`)}: `), text), way);

/**
 * What is done, with how far it is and a way to stop it.
 * @param {HTMLElement} place
 * @param {string} text
 * @param {() => Promise<import('./api.js').Progress>} look
 * @param {() => void} stop
 * @returns {() => void} takes it away
 */
export function progress(place, text, look, stop) {
  const bar = h('progress', { 'aria-label': text });
  const said = h('span', {}, text);
  place.replaceChildren(h('div', { class: 'progress', role: 'status' }, said, bar, button(t('page.stop'), stop, { kind: 'secondary' })));
  const timer = setInterval(async () => {
    const now = await look().catch(() => null);
    if (!now) return;
    if (now.total) {
      bar.max = now.total;
      bar.value = now.done;
    }
    said.textContent = `${text} ${now.what === 'bytes' ? megabytes(now.done) : `${count(now.done)} ${t(`progress.${now.what}`)}`}`;
  }, 300);
  return () => {
    clearInterval(timer);
    place.replaceChildren();
  };
}

/** The steps of a study, in their order. */
export const ORDER = ['open', 'columns', 'tables', 'trade', 'promise', 'collect', 'results', 'publish'];

/**
 * The buttons below a step.
 * @param {import('./main.js').Page} page
 * @param {string} step
 * @param {{text: string, ready?: boolean, reason?: string} | null} next
 */
export function steps(page, step, next) {
  const place = ORDER.indexOf(step);
  const reason = fresh();
  return h('div', { class: 'ways' },
    place > 0 && button(t('page.back'), () => page.go(ORDER[place - 1]), { id: 'back' }),
    h('span', { class: 'space' }),
    next && next.ready === false && h('span', { class: 'reason', id: reason }, next.reason ?? ''),
    next && button(next.text, () => page.go(ORDER[place + 1]), { kind: 'primary', id: 'next', disabled: next.ready === false, described: reason }));
}
