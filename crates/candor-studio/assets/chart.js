// Drawings.

import { h, s } from './dom.js';
import { percent } from './numbers.js';
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
  return s('svg', { class: 'bars', viewBox: `0 0 ${width * counts.length} 28`, width: width * counts.length, height: 28, role: 'img', 'aria-label': text },
    counts.map((one, at) => {
      const height = Math.max(1, (26 * one) / most);
      return s('rect', { x: at * width + 1, y: 28 - height, width: Math.max(1, width - 2), height, class: labels[at] === '' ? 'mute' : 'data' });
    }));
}

/** @typedef {{epsilon: number, typical: number | null, widest: number | null, most_told: {worst: number, average: number, by_luck: number}}} Point */

const LEFT = 56;
const RIGHT = 560;

/** Where a margin stands: on a logarithmic scale from 1 to 100 points. */
const marginY = (/** @type {number} */ margin) => 300 - (130 * Math.log(Math.min(100, Math.max(1, margin)))) / Math.log(100);

/** Where a probability stands. */
const guessY = (/** @type {number} */ probability) => 126 - 96 * probability;

/**
 * Both strips of the trade-off with the cursor that runs through them.
 * @param {number[]} stops
 * @param {Point[]} points those that are known
 * @param {number} epsilon
 * @param {Point | null} here the numbers at the cursor, between the stops by interpolation
 */
export function strips(stops, points, epsilon, here) {
  const x = (/** @type {number} */ at) => LEFT + ((RIGHT - LEFT) * Math.log(at / stops[0])) / Math.log(stops[stops.length - 1] / stops[0]);
  const known = points.filter(({ epsilon: at }) => stops.includes(at)).sort((a, b) => a.epsilon - b.epsilon);
  const line = (/** @type {(point: Point) => number | null} */ y, /** @type {string} */ kind) => {
    const path = known.map((point) => [x(point.epsilon), y(point)]).filter(([, at]) => at !== null);
    return path.length > 1 && s('polyline', { class: kind, points: path.map((pair) => pair.join(',')).join(' ') });
  };
  const band = (/** @type {number} */ low, /** @type {number} */ high, /** @type {string} */ kind, /** @type {string} */ name) =>
    [s('rect', { class: kind, x: LEFT, y: marginY(high), width: RIGHT - LEFT, height: marginY(low) - marginY(high) }),
      s('text', { class: `word ${kind}-word`, x: RIGHT - 6, y: marginY(high) + 15, 'text-anchor': 'end' }, name)];
  const tick = (/** @type {number} */ y, /** @type {string} */ text) =>
    [s('line', { class: 'grid', x1: LEFT, x2: RIGHT, y1: y, y2: y }), s('text', { class: 'axis', x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, text)];
  const dot = (/** @type {number} */ y, /** @type {string} */ kind) => s('circle', { class: kind, cx: x(epsilon), cy: y, r: 5 });
  const at = here;
  return s('svg', { class: 'strips', viewBox: '0 0 700 310', 'aria-hidden': 'true' },
    s('text', { class: 'head data-word', x: 0, y: 16 }, t('trade.strip_guess')),
    [[0, '0'], [0.5, '50'], [1, '100']].map(([share, text]) => tick(guessY(Number(share)), String(text))),
    line(({ most_told: told }) => guessY(told.by_luck), 'luck'), line(({ most_told: told }) => guessY(told.average), 'thin data-line'), line(({ most_told: told }) => guessY(told.worst), 'thick data-line'),
    known.length > 1 && [[known[known.length - 1].most_told.worst, t('trade.worst'), -2], [known[known.length - 1].most_told.average, t('trade.average'), 6]].map(([share, text, by]) =>
      s('text', { class: 'axis', x: RIGHT + 8, y: guessY(Number(share)) + Number(by) }, String(text))),
    s('text', { class: 'head data2-word', x: 0, y: 156 }, t('trade.strip_margin')),
    band(1, 5, 'good', t('grade.good')), band(5, 15, 'warn', t('grade.rough')), band(15, 100, 'bad', t('grade.too_imprecise')),
    [2, 5, 15, 50].map((points_) => tick(marginY(points_), `± ${points_}`)),
    line(({ widest }) => (widest === null ? null : marginY(widest)), 'thin data2-line'), line(({ typical }) => (typical === null ? null : marginY(typical)), 'thick data2-line'),
    known.length > 1 && known[known.length - 1].typical !== null && s('text', { class: 'axis', x: RIGHT + 8, y: marginY(known[known.length - 1].typical ?? 1) + 12 }, t('trade.typical_table')),
    known.length > 1 && known[known.length - 1].widest !== null && s('text', { class: 'axis', x: RIGHT + 8, y: marginY(known[known.length - 1].widest ?? 1) - 4 }, t('trade.widest_table')),
    s('line', { class: 'cursor', x1: x(epsilon), x2: x(epsilon), y1: 24, y2: 304 }),
    at && [dot(guessY(at.most_told.worst), 'data'), dot(guessY(at.most_told.average), 'data'), at.typical !== null && dot(marginY(at.typical), 'data2')]);
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
 * An interval with its estimate on an axis from 0 to `end` (shares).
 * @param {import('./api.js').Cell} cell
 * @param {number} end
 */
export function interval({ low, high, shown_estimate: shown }, end) {
  if (low === null || high === null || (shown === null && low > 0)) return h('span', { class: 'interval' });
  const left = (/** @type {number} */ share) => `${(100 * Math.min(share, end)) / end}%`;
  return h('span', { class: 'interval', 'aria-hidden': 'true' },
    h('span', { class: 'reach', style: { left: left(low), width: `calc(${left(high)} - ${left(low)})` } }),
    shown !== null && h('span', { class: 'dot', style: { left: left(shown) } }));
}
