// What the page asks of the program: with the token of its address, and of nobody else.

/** @typedef {{categories: string[], estimate: number, low: number | null, high: number | null, shown_estimate: number | null, reliability: string | null}} Cell */
/** @typedef {{attributes: string[], given: string[], cells: Cell[], respondents: number, reason: string | null}} Table */
/** @typedef {{of: string, by: string[]}} Wanted */
/** @typedef {{outcome: string, predictors: string[]}} Model */
/** @typedef {{weights: string | null, strata: string | null, psu: string | null}} Sample */
/** @typedef {{text: string, help?: string, answers?: Record<string, string>}} Question */
/** @typedef {{kind: string, labels: string[], edges: number[], grid: number[], asked_if: string | null}} Attribute */
/** @typedef {{name: string, kind: string, distinct: number, more: boolean, missing: number, range: [number, number] | null, suggested_edges: string | null}} Summary */
/** @typedef {{name: string, role: 'protect' | 'public' | 'out', counts?: number[] | null, every?: number, summary?: Summary | null, attribute?: Attribute, usable?: boolean, aside?: boolean}} Column */
/** @typedef {{revision: number, title: string | null, data: string | null, missing: string[] | null, respondents: number | null, epsilon: number | null, tables: Wanted[], means: string[], models: Model[], sample: Sample, only: [string, string] | null, languages: string[], publish_responses: boolean}} Study */
/** @typedef {{time: number, epsilon: number | null, records: number, way: string, plan: string, kept?: string[]}} Draw */
/**
 * @typedef {object} State
 * @property {string} name
 * @property {string} folder
 * @property {string} title
 * @property {Study} study
 * @property {{rows: number, columns: string[], first: string[][]} | null} data
 * @property {Column[]} columns
 * @property {string[]} means
 * @property {Record<string, {questions?: Record<string, Question>, points?: string[], sheet?: Record<string, string>, about?: Record<string, string>}>} texts
 * @property {string[]} known_languages
 * @property {{problem?: string, fingerprint?: string, epsilon?: number | null, method?: string, current?: boolean} | null} plan
 * @property {boolean} locked
 * @property {{draws: Draw[], responses: boolean, times: string | null, epsilon: number | null, plan: string | null, next: {type: string, text: string} | null}} collect
 * @property {{installed: boolean, exists: boolean, address: string | null, fetched: boolean}} survey
 * @property {boolean} published
 * @property {number} undo
 * @property {Record<string, string>} commands
 */

/** Something that cannot be done, in a plain sentence. */
export class Problem extends Error {
  /**
   * @param {string} kind
   * @param {string} text
   */
  constructor(kind, text) {
    super(text);
    this.kind = kind;
  }
}

let token = '';

/** @param {string} given */
export function use(given) {
  token = given;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {BodyInit} [body]
 * @param {AbortSignal} [signal]
 */
async function request(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, { method, body, signal, headers: { authorization: `Bearer ${token}` } });
  } catch (error) {
    if (signal?.aborted) throw new Problem('stopped', '');
    throw new Problem('ended', String(error));
  }
  const answer = await response.json().catch(() => ({ kind: 'answer', text: response.statusText }));
  if (!response.ok) throw new Problem(answer.kind, answer.text);
  return answer;
}

/** @returns {Promise<{folder: string, studies: {name: string, changed: number}[]}>} */
export const studies = () => request('GET', '/api/studies');

/**
 * @param {string} name
 * @returns {Promise<{name: string}>}
 */
export const create = (name) => request('POST', '/api/studies', JSON.stringify({ name }));

/**
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<{name: string}>}
 */
export const upload = (file, signal) => request('PUT', `/api/upload/${encodeURIComponent(file.name)}`, file, signal);

/** @typedef {{what: string, done: number, total: number | null} | null} Progress */

/**
 * How far the table that arrives is.
 * @returns {Promise<Progress>}
 */
export const arriving = () => request('GET', '/api/arriving');

/** Ends reading the table that arrives. */
export const stopArriving = () => request('DELETE', '/api/arriving');

/**
 * @param {string} study
 * @param {File} file
 * @returns {Promise<State>}
 */
export const answers = (study, file) => request('PUT', `/api/study/${encodeURIComponent(study)}/answers`, file);

/**
 * @param {string} study
 * @param {string} action
 * @param {Record<string, unknown>} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const act = (study, action, body = {}, signal = undefined) =>
  request('POST', `/api/study/${encodeURIComponent(study)}/${action}`, JSON.stringify(body), signal);
