// The texts of the page: one table, whose language follows the browser's.

/** @type {Record<string, Record<string, string>>} */
let table = {};

/** Fetches the table. */
export async function load() {
  table = await (await fetch('/words.json')).json();
  document.documentElement.lang = t('page.language');
}

/**
 * A text, with words put in place of those in braces.
 * @param {string} name such as `open.title`
 * @param {Record<string, string | number>} [words]
 */
export function t(name, words = {}) {
  const [section, key] = name.split('.');
  const text = table[section]?.[key] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, word) => String(words[word] ?? whole));
}

/**
 * The text for one or for several.
 * @param {string} name of the text for several; that for one ends with `_one`
 * @param {number} n
 * @param {Record<string, string | number>} [words]
 */
export const several = (name, n, words = {}) => t(n === 1 ? `${name}_one` : name, { n: count(n), ...words });

/**
 * A number with separators.
 * @param {number} number
 */
export const count = (number) => Math.round(number).toLocaleString(document.documentElement.lang || 'en');
