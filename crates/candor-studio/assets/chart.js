// Drawings.

import { h, s } from './dom.js';
import { margin as plusMinus, ofHundred, percent } from './numbers.js';
import { t } from './words.js';

/**
 * A small picture of how often each answer is given.
 * @param {number[]} counts
 * @param {string[]} labels
 */
export function bars(counts, labels) {
  const most = Math.max(1, ...counts);
  const total = Math.max(1, counts.reduce((sum, one) => sum + one, 0));
  const width = Math.min(16, 96 / counts.length);
  const text = counts.slice(0, 12).map((one, at) => `${labels[at] || t('column.no_answer')} ${percent(one / total)}`).join(', ');
  const bar = (/** @type {number} */ one, /** @type {number} */ at) => {
    const height = Math.max(1, (26 * one) / most);
    return s('rect', { x: at * width + 1, y: 28 - height, width: Math.max(1, width - 2), height, class: labels[at] === '' ? 'mute' : 'data' });
  };
  return s('svg', { class: 'bars', viewBox: `0 0 ${width * counts.length} 28`, width: width * counts.length, height: 28, role: 'img', 'aria-label': text },
    counts.map(bar));
}

/** @typedef {{epsilon: number, typical: number | null, widest: number | null, most_told: {worst: number, average: number, by_luck: number}}} Point */
/** @typedef {[number, number][]} Path */

const [LEFT, RIGHT, MIDDLE, BOTTOM] = [56, 560, 152, 372];

/** Where a margin stands: on a logarithmic scale from 1 to 100 points. */
const marginY = (/** @type {number} */ margin) => BOTTOM - (172 * Math.log(Math.min(100, Math.max(1, margin)))) / Math.log(100);

/** Where a probability stands. */
const guessY = (/** @type {number} */ probability) => MIDDLE - 116 * probability;

const grid = (/** @type {number} */ y, /** @type {string} */ text) =>
  [s('line', { class: 'grid', x1: LEFT, x2: RIGHT, y1: y, y2: y }), s('text', { class: 'axis', x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, text)];

const line = (/** @type {Path} */ path, /** @type {string} */ kind) =>
  path.length > 1 && s('polyline', { class: kind, points: path.map((pair) => pair.join(',')).join(' ') });

/**
 * Words at the ends of lines, none above another.
 * @param {[number, string, string][]} words where each line ends, its name and its class
 */
function names(words) {
  let below = -Infinity;
  return words.sort(([a], [b]) => a - b).map(([y, text, kind]) => {
    below = Math.max(y, below + 17);
    return s('text', { class: kind, x: RIGHT + 10, y: below + 4 }, text);
  });
}

/**
 * A number at the cursor.
 * @param {number} x
 * @param {number} y where its dot is
 * @param {string} text
 * @param {string} kind
 * @param {boolean} above
 */
function flag(x, y, text, kind, above) {
  const width = 18 + 7.2 * text.length;
  const left = x + width + 12 > RIGHT ? x - width - 10 : x + 10;
  const top = above ? y - 26 : y + 5;
  return s('g', { class: `flag ${kind}` }, s('rect', { x: left, y: top, width, height: 21, rx: 4 }),
    s('text', { x: left + width / 2, y: top + 15, 'text-anchor': 'middle' }, text), s('circle', { cx: x, cy: y, r: 5.5 }));
}

/**
 * Where the slider is for an epsilon: the number of its stop, or between two.
 * @param {number[]} stops
 * @param {number} at
 */
function place(stops, at) {
  const above = stops.findIndex((stop) => stop > at);
  if (above < 0) return stops.length - 1;
  return above === 0 ? 0 : above - 1 + Math.log(at / stops[above - 1]) / Math.log(stops[above] / stops[above - 1]);
}

/**
 * Both strips of the trade-off with the cursor that runs through them.
 * @param {{stops: number[], limits: [number, number]}} scale
 * @param {Point[]} points those that are known
 * @param {Point} here the numbers at the cursor, between the stops by interpolation
 */
export function strips({ stops, limits: [good, rough] }, points, here) {
  const x = (/** @type {number} */ at) => LEFT + ((RIGHT - LEFT) * place(stops, at)) / (stops.length - 1);
  const known = points.filter(({ epsilon: at }) => stops.includes(at)).sort((a, b) => a.epsilon - b.epsilon);
  const path = (/** @type {(point: Point) => number | null} */ y) =>
    /** @type {Path} */ (known.map((point) => [x(point.epsilon), y(point)]).filter(([, at]) => at !== null));
  const marginPath = (/** @type {'typical' | 'widest'} */ name) => path(({ [name]: at }) => (at === null ? null : marginY(at)));
  const [worst, average, luck] = [path(({ most_told: told }) => guessY(told.worst)), path(({ most_told: told }) => guessY(told.average)), path(({ most_told: told }) => guessY(told.by_luck))];
  const [typical, widest] = [marginPath('typical'), marginPath('widest')];
  const end = (/** @type {Path} */ of, /** @type {string} */ text, /** @type {string} */ kind) =>
    /** @type {[number, string, string][]} */ (of.length > 1 ? [[of[of.length - 1][1], t(`trade.${text}`), kind]] : []);
  const band = (/** @type {number} */ low, /** @type {number} */ high, /** @type {string} */ kind, /** @type {string} */ name) =>
    [s('rect', { class: kind, x: LEFT, y: marginY(high), width: RIGHT - LEFT, height: marginY(low) - marginY(high) }), s('text', kind === 'bad' ? { class: 'bad-word', x: RIGHT - 8, y: marginY(high) + 18, 'text-anchor': 'end' } : { class: `${kind}-word`, x: LEFT + 8, y: marginY(low) - 8 }, name)];
  const at = x(here.epsilon);
  const { worst: most, average: mean } = here.most_told;
  return s('svg', { class: 'strips', viewBox: '0 0 730 380', 'aria-hidden': 'true' },
    s('text', { class: 'head data-word', x: 0, y: 16 }, t('trade.strip_guess')),
    [0, 0.5, 1].map((share) => grid(guessY(share), String(100 * share))),
    line(luck, 'luck'), line(average, 'thin data-line'), line(worst, 'thick data-line'),
    names([...end(worst, 'worst', 'strong data-word'), ...end(average, 'average', 'data-word'), ...end(luck, 'by_luck', '')]),
    s('text', { class: 'head data2-word', x: 0, y: MIDDLE + 34 }, t('trade.strip_margin')),
    band(1, good, 'good', t('grade.good')), band(good, rough, 'warn', t('grade.rough')), band(rough, 100, 'bad', t('grade.too_imprecise')),
    [2, 5, 15, 50].map((points_) => grid(marginY(points_), plusMinus(points_, 0))),
    typical.length > 1 && s('polygon', { class: 'between', points: [...typical, ...[...widest].reverse()].map((pair) => pair.join(',')).join(' ') }),
    line(widest, 'thin data2-line'), line(typical, 'thick data2-line'),
    names([...end(widest, 'widest_table', 'data2-word'), ...end(typical, 'typical_table', 'strong data2-word')]),
    s('line', { class: 'cursor', x1: at, x2: at, y1: 24, y2: 380 }),
    flag(at, guessY(most), t('trade.of_hundred', { n: ofHundred(most) }), 'data', true),
    most - mean > 0.25 && flag(at, guessY(mean), t('trade.of_hundred', { n: ofHundred(mean) }), 'data', false),
    here.typical !== null && flag(at, marginY(here.typical), t('trade.points', { margin: plusMinus(here.typical) }), 'data2', true));
}

/**
 * One hundred guesses: right by luck, on average, at worst.
 * @param {number} luck
 * @param {number} average
 * @param {number} worst
 */
export function hundred(luck, average, worst) {
  const kind = (/** @type {number} */ at) => (at < luck ? 'mute' : at < average ? 'data' : at < worst ? 'band' : 'open');
  return s('svg', { class: 'hundred', viewBox: '0 0 200 50', 'aria-hidden': 'true' },
    Array.from({ length: 100 }, (_, at) => s('circle', { class: kind(at), cx: (at % 20) * 10 + 5, cy: Math.floor(at / 20) * 10 + 5, r: 3.8 })));
}

/**
 * A share with the interval that its estimate will have, in percent.
 * @param {{share: number, low: number, high: number}} figure
 */
export function figure({ share, low, high }) {
  const end = Math.max(2 * share, 20 * Math.ceil(high / 20));
  const x = (/** @type {number} */ at) => 10 + (180 * at) / end;
  return s('svg', { class: 'figure', viewBox: '0 0 200 46', 'aria-hidden': 'true' },
    [0, end / 2, end].map((at) => [s('line', { class: 'grid', x1: x(at), x2: x(at), y1: 2, y2: 28 }), s('text', { x: x(at), y: 42, 'text-anchor': 'middle' }, at === end ? `${at}%` : String(at))]),
    s('rect', { x: x(low), width: Math.max(2, x(high) - x(low)), y: 11, height: 8, rx: 4 }), s('circle', { cx: x(share), cy: 15, r: 5.5 }));
}

/**
 * How often guesses about one question are right: by luck (a line), on average (a ring), at worst (a dot).
 * @param {{by_luck: number, average: number, worst: number}} guess
 */
export function guessRow({ by_luck: luck, average, worst }) {
  const x = (/** @type {number} */ share) => 6 + 88 * share;
  return s('svg', { class: 'guess-row', viewBox: '0 0 100 16', width: 100, height: 16, 'aria-hidden': 'true' },
    s('line', { class: 'axis-line', x1: 6, x2: 94, y1: 8, y2: 8 }), s('line', { class: 'reach', x1: x(average), x2: x(worst), y1: 8, y2: 8 }),
    s('line', { class: 'by-luck', x1: x(luck), x2: x(luck), y1: 2, y2: 14 }), s('circle', { class: 'ring', cx: x(average), cy: 8, r: 3.6 }), s('circle', { cx: x(worst), cy: 8, r: 4 }));
}

/**
 * Many margins in one line: a dot for each table.
 * @param {(number | null)[]} margins
 * @param {[number, number]} limits
 * @param {string} text
 */
export function dots(margins, [good, rough], text) {
  const x = (/** @type {number} */ margin) => 4 + (232 * Math.log(Math.min(60, Math.max(1, margin)))) / Math.log(60);
  /** @type {Map<number, number>} */
  const piles = new Map();
  const dot = (/** @type {number | null} */ margin) => {
    const at = Math.round(x(margin ?? 60) / 7) * 7;
    const pile = piles.get(at) ?? 0;
    piles.set(at, pile + 1);
    return s('circle', { cx: at, cy: 38 - 6 * (pile % 6), r: 2.8 });
  };
  const band = (/** @type {number} */ low, /** @type {number} */ high, /** @type {string} */ kind) => s('rect', { class: kind, x: x(low), width: x(high) - x(low), y: 2, height: 42 });
  return s('svg', { class: 'dot-strip', viewBox: '0 0 240 46', role: 'img', 'aria-label': text }, band(1, good, 'good'), band(good, rough, 'warn'), band(rough, 60, 'bad'), margins.map(dot));
}

/**
 * An interval with its estimate on an axis from 0 to `end` (shares).
 * @param {import('./api.js').Cell} cell
 * @param {number} end
 */
export function interval({ low, high, shown_estimate: shown, reliability }, end) {
  const lines = axisTicks(end).map((at) => h('span', { class: 'grid', style: { left: `${(100 * at) / end}%` } }));
  if (low === null || high === null || (shown === null && reliability !== 'under')) return h('span', { class: 'interval' }, lines);
  const left = (/** @type {number} */ share) => `${(100 * Math.min(share, end)) / end}%`;
  return h('span', { class: 'interval', 'aria-hidden': 'true' }, lines,
    h('span', { class: 'reach', style: { left: left(low), width: `calc(${left(high)} - ${left(low)})` } }),
    shown !== null && h('span', { class: 'dot', style: { left: left(shown) } }));
}

/**
 * Where an axis of shares has its numbers.
 * @param {number} end
 */
export function axisTicks(end) {
  const step = end > 0.5 ? 0.2 : 0.1;
  return Array.from({ length: Math.round(end / step) + 1 }, (_, at) => at * step);
}
