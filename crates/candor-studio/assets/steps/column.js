// One column or question: its words, its answers and their order, its groups, and whom it is asked.

import { Problem } from '../api.js';
import { fill, fresh, h } from '../dom.js';
import { button, choice, field, notice, select, whenLeft } from '../parts.js';
import { bars } from '../chart.js';
import { ordered } from '../sort.js';
import { percent } from '../numbers.js';
import { count, t } from '../words.js';
import { asked, sampled } from './columns.js';

/** @typedef {import('../main.js').Page} Page */
/** @typedef {import('../api.js').Column} Column */

/**
 * @param {Page} page
 * @param {Column} column
 */
export function edit(page, column) {
  const { name, attribute, summary, counts } = column;
  const own = page.state.texts.en?.questions?.[name];
  const head = h('h2', {}, own?.text ?? (name || t('open.no_name')));
  if (!attribute) return [head, summary?.kind === 'numbers' ? groups(page, column) : h('p', {}, summary ? t(`column.why_${summary.kind.replace('-', '_')}`) : t('column.left_out'))];
  const labels = own?.answers ?? {};
  const save = (/** @type {{text?: string, answers?: Record<string, string>}} */ change) => page.edit(({ texts }) => {
    const now = texts.en?.questions?.[name];
    return { do: 'question', name, language: 'en', text: change.text ?? now?.text ?? '', answers: { ...now?.answers, ...change.answers } };
  });
  const question = field(t('column.question'), 'question', own?.text ?? '', (text) => save({ text }), { placeholder: name, lines: 2 });
  const total = counts?.reduce((sum, one) => sum + one, 0) ?? 0;
  const locked = page.state.locked;
  const show = (/** @type {string} */ label) => {
    const at = attribute.labels.indexOf(label);
    const id = `label-${at}`;
    const share = counts && total ? counts[at] / total : null;
    return [h('span', { class: 'answer' }, h('input', { type: 'text', id, value: labels[label] ?? '', placeholder: label === '' ? t('column.no_answer') : label, 'aria-label': t('column.label_of', { name: label || t('column.no_answer') }),
      ...whenLeft(labels[label] ?? '', (text) => save({ answers: { [label]: text } })) })), share !== null && h('span', { class: 'share' }, share > 0 && share < 0.005 ? '<1%' : percent(share))];
  };
  const order = (/** @type {string[]} */ categories) => page.edit({ do: 'order', name, categories, ordinal: attribute.kind === 'ordinal' });
  const kinds = /** @type {[string, string][]} */ ([['ordinal', t('columns.ordinal')], ['nominal', t('columns.nominal')]]);
  const kind = (/** @type {string} */ value) => page.edit({ do: 'order', name, categories: attribute.labels, ordinal: value === 'ordinal' });
  return [head, question,
    h('h3', {}, t('column.answers')), h('p', { class: 'hint' }, t(attribute.edges.length ? 'column.answers_bins' : 'column.answers_text')),
    ordered('answers', attribute.labels, show, order, locked || attribute.edges.length > 0),
    !attribute.edges.length && choice(t('column.kind'), 'kind', kinds, attribute.kind, kind, { disabled: locked }),
    attribute.edges.length > 0 || summary?.kind === 'numbers' ? groups(page, column) : null,
    missing(column), condition(page, column),
    !page.state.data && !locked && button(t('column.remove'), () => page.edit({ do: 'remove', name }), { id: 'remove' })];
}

/** @param {Column} column */
function missing({ attribute, summary }) {
  if (!summary) return null;
  const has = attribute?.labels.includes('');
  return [h('h3', {}, t('column.missing')), h('p', {}, has ? t('column.missing_answer', { n: count(summary.missing) }) : t('column.missing_none'))];
}

/** The answer that decides whether a question is asked. */
let deciding = '';

/**
 * Whom it is asked: those who gave one answer to another question.
 * @param {Page} page
 * @param {Column} column
 */
function condition(page, { name, attribute }) {
  const { columns, locked } = page.state;
  const save = (/** @type {string | null} */ text) => page.edit({ do: 'asked-if', name, condition: text });
  if (attribute?.asked_if) return [h('h3', {}, t('column.some')), h('p', {}, t('column.asked_only', { condition: attribute.asked_if })), !locked && button(t('column.ask_all'), () => save(null), { id: 'ask-all' })];
  if (locked) return null;
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "''")}'`;
  const answers = columns.filter((one) => one.name !== name && one.attribute).flatMap((one) => (one.attribute?.labels ?? []).filter(Boolean)
    .map((label) => /** @type {[string, string]} */ ([`${quoted(one.name)} = ${quoted(label)}`, `${asked(page, one.name)}: ${label}`])));
  if (!answers.some(([value]) => value === deciding)) deciding = '';
  return h('details', { id: 'some' }, h('summary', {}, t('column.some')),
    select(t('column.asked_if'), 'asked-if', [['', t('tables.choose')], ...answers], deciding, (value) => { deciding = value; }), h('p', { class: 'hint' }, t('column.asked_if_hint')),
    button(t('column.ask_some'), () => deciding && save(deciding), { id: 'ask-some' }));
}

/**
 * Groups of a column of numbers, with how many people each has.
 * @param {Page} page
 * @param {Column} column
 */
function groups(page, { name, attribute, summary }) {
  const preview = h('div', { 'aria-live': 'polite' });
  const old = attribute?.edges.join(', ') ?? '';
  const input = h('input', { type: 'text', id: 'edges', value: old || (summary?.suggested_edges ?? '').replaceAll(',', ', '), autocomplete: 'off', 'aria-describedby': 'edges-hint' });
  const written = () => input.value.split(/[;,\s]+/).filter(Boolean);
  const edges = () => written().map(Number);
  /** What is no number, told; `null` if all are. */
  const wrong = () => {
    const odd = written().find((text) => !Number.isFinite(Number(text)));
    return odd === undefined ? null : t('column.edges_wrong', { text: odd });
  };
  const look = async () => {
    try {
      const odd = wrong();
      if (odd) throw new Problem('input', odd);
      const { labels, counts, every } = await page.ask('bins', { name, edges: edges() });
      fill(preview, counts && bars(counts, labels), sampled(every), h('ul', { class: 'plain small' }, labels.map((/** @type {string} */ label, /** @type {number} */ at) =>
        h('li', {}, `${label || t('column.no_answer')}: ${count(counts[at])}`))));
    } catch (error) {
      fill(preview, error instanceof Error ? error.message : '');
    }
  };
  input.addEventListener('input', () => void look());
  if (page.state.data) void look();
  const range = summary?.range;
  return [h('h3', {}, t('column.groups')), !attribute && h('p', { class: 'hint' }, t('column.weights')),
    h('div', { class: 'field' }, h('label', { for: 'edges' }, t('column.edges')), input,
      h('small', { id: 'edges-hint' }, range ? t('column.edges_range', { low: range[0], high: range[1] }) : '', ' ', t('column.edges_hint'))),
    preview,
    notice('warn', t('column.edges_leak')),
    !page.state.locked && button(attribute ? t('column.change_groups') : t('column.make_groups'), () => {
      const odd = wrong();
      if (odd) page.fail(new Problem('input', odd));
      else void page.edit({ do: 'bins', name, edges: edges() });
    }, { kind: 'primary', id: 'make-groups' })];
}

/**
 * A question that is written by hand.
 * @param {Page} page
 * @param {(name: string) => void} pick
 */
export function add(page, pick) {
  const [name, text, answers, ordinal, open] = ['new-name', 'new-text', 'new-answers', 'new-ordinal', 'new-public'];
  const value = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value;
  const ticked = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).checked;
  const save = async () => {
    const short = value(name);
    const done = await page.change('edit', { edit: { do: 'add', name: short, text: value(text), answers: value(answers).split('\n'), ordinal: ticked(ordinal), role: ticked(open) ? 'public' : 'protect' } });
    if (!done) return;
    pick(short.trim());
    document.getElementById(text)?.focus();
  };
  const line = (/** @type {string} */ id, /** @type {string} */ label, /** @type {Node} */ input, /** @type {string} */ hint) =>
    h('div', { class: 'field' }, h('label', { for: id }, label), input, h('small', {}, hint));
  const box = (/** @type {string} */ id, /** @type {string} */ label) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', id }), label);
  const title = fresh();
  return h('section', { class: 'card', 'aria-labelledby': title }, h('h2', { id: title }, t('column.add')),
    line(text, t('column.question'), h('textarea', { id: text, rows: '2' }), t('column.question_hint')),
    line(name, t('column.short'), h('input', { id: name, type: 'text', autocomplete: 'off' }), t('column.short_hint')),
    line(answers, t('column.answers'), h('textarea', { id: answers, rows: '4' }), t('column.answers_lines')),
    box(ordinal, t('column.in_order')), box(open, t('column.not_sensitive')),
    button(t('column.add_button'), save, { kind: 'primary', id: 'add' }));
}
