// Numbers as people read them. What is precise enough to be shown is decided by candor; here it is only written.

/** @param {number} share */
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}%`;

/**
 * A margin of error.
 * @param {number} points
 */
export const margin = (points, digits = 1) => `±${points.toFixed(digits)}`;

/**
 * A difference in percentage points, with a minus sign that is one.
 * @param {number} share
 */
export const difference = (share) => {
  const points = Math.round(100 * share);
  return points < 0 ? `−${-points}` : String(Math.abs(points));
};

/**
 * So many of 100, rounded up.
 * @param {number} probability
 */
export const ofHundred = (probability) => Math.min(100, Math.ceil(100 * probability - 1e-9));

/**
 * A cell of a table as it is shown.
 * @param {import('./api.js').Cell} cell
 * @returns {{text: string, margin: string, rough: boolean}}
 */
export function cell({ shown_estimate: shown, low, high, reliability }) {
  if (reliability === 'under' && high !== null) return { text: `under ${Math.ceil(100 * high - 1e-9)}%`, margin: '', rough: false };
  if (shown === null || low === null || high === null) return { text: '–', margin: '', rough: true };
  return { text: percent(shown), margin: margin(50 * (high - low)), rough: reliability === 'rough' };
}

/** @param {number} p */
export const pValue = (p) => (p < 0.001 ? 'p < 0.001' : `p = ${p.toPrecision(2)}`);

/** @param {number} bytes */
export const megabytes = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`);

/** @param {number} seconds since 1970 */
export const time = (seconds) =>
  new Date(1000 * seconds).toLocaleString(document.documentElement.lang, { dateStyle: 'long', timeStyle: 'short' });
