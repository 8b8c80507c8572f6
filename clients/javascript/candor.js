// The respondent's side of candor: reads a plan, checks what it guarantees, and answers under it, as docs/sampling.md
// says. No dependencies; browsers and Node 20 or later. The true record stays here, only the response may leave.
// One file, so that respondents compare one hash.

/** What is wrong with a plan or a record. Contains no true value. */
export class CandorError extends Error {}

export const wrong = (message) => { throw new CandorError(message); };
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A field of the object itself: an attribute may be named `__proto__` or `constructor`. */
const own = (object, name) => (object != null && Object.hasOwn(object, name) ? object[name] : undefined);
const sum = (numbers) => numbers.reduce((total, n) => total + n, 0n);
const product = (numbers) => numbers.reduce((all, n) => all * n, 1);
const largest = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));

const MAX_CATEGORIES = 65535;
const NOT_ASKED = '(not asked)';
const FULL_WEIGHT = 1n << 64n;

// ---- Plans

/** The canonical form (RFC 8785) of the JSON that plans are made of. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') {
    const rounded = typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) <= 2 ** 53);
    if (rounded) wrong('the plan holds a number that is not an integer up to 2^53; write larger ones as strings');
    return JSON.stringify(value);
  }
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** The fingerprint of a plan, computed from its schema, blocks, version and prior. */
export async function fingerprint(plan) {
  const { blocks, schema, version } = plan;
  const contract = { blocks, schema, version };
  const prior = plan.guarantee?.for_prior;
  if (version >= 2 && prior) contract.for_prior = { attribute: prior.attribute, prior: prior.prior };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(contract)));
  return `sha256:${hex(new Uint8Array(digest))}`;
}

/** Steps, of some nanoseconds each, that checking a plan may take unless `maxCost` says otherwise: some seconds. */
const MAX_COST = 2 ** 30;

/**
 * Reads a plan (text, or parsed JSON) and rejects one that cannot be drawn from, was edited, or states a smaller
 * epsilon than its channels have. Options, all of them optional:
 *
 * - `maxEpsilon`: reject a plan whose record-level epsilon exceeds this number.
 * - `allowUnbounded`: accept a plan without a finite record-level epsilon. Such plans are rejected by default.
 * - `maxCost`: the largest number of steps that checking the plan may take.
 * - `signature` and `publicKey`: require a valid signature of the plan under this key (docs/formats.md).
 */
export async function readPlan(source, options = {}) {
  const { maxEpsilon, allowUnbounded = false, maxCost = MAX_COST } = options;
  checkOptions(options);
  const plan = typeof source === 'string' ? parse(source) : structuredClone(source);
  if (plan?.format !== 'candor plan') wrong('not a candor plan');
  if (plan.version !== 1 && plan.version !== 2) {
    wrong(`the plan is of version ${JSON.stringify(plan.version)}; this client reads versions 1 and 2`);
  }
  checkFields(plan);
  const attributes = plan.schema.attributes.map(readAttribute);
  checkSchema(attributes);
  const rules = conditions(attributes);
  const cost = costOf(plan.blocks, attributes.length);
  if (!(cost <= maxCost)) {
    wrong(`checking this plan would take up to ${cost} steps, more than the ${maxCost} allowed by \`maxCost\``);
  }
  const blocks = plan.blocks.map((block, number) => readBlock(block, number, attributes));
  const ready = { attributes, blocks, conditions: rules };
  checkBlocks(ready);
  checkVersion(plan, ready);
  const found = await fingerprint(plan);
  if (plan.fingerprint !== found) {
    wrong(`the plan was changed: it states ${plan.fingerprint}, but its contents have ${found}`);
  }
  if (options.signature !== undefined) {
    const { checkSignature } = await import('./signature.js');
    await checkSignature(options.signature, { fingerprint: found, version: plan.version }, options.publicKey);
  }
  const actual = guaranteeOf(ready);
  const guarantee = checkedGuarantee(plan.guarantee, actual);
  blocks.forEach((block, number) => { block.spends = actual.spends[number]; });
  const epsilon = Number(guarantee.epsilon ?? Infinity);
  if (epsilon === Infinity && !(allowUnbounded && maxEpsilon === undefined)) {
    wrong('the plan has no finite epsilon: some answers rule out some records; '
      + 'specify `allowUnbounded` to answer nevertheless');
  }
  if (epsilon > maxEpsilon + slack(maxEpsilon)) {
    wrong(`the plan has a record-level epsilon of ${guarantee.epsilon}; at most ${maxEpsilon} is allowed`);
  }
  const { version } = plan;
  return Object.freeze({ fingerprint: found, version, guarantee, ...ready, columns: columns(ready) });
}

function checkOptions(options) {
  const known = ['maxEpsilon', 'allowUnbounded', 'maxCost', 'signature', 'publicKey'];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown) wrong(`unknown option \`${unknown}\` of readPlan; expected one of ${known.join(', ')}`);
  const { maxEpsilon, maxCost = MAX_COST, signature, publicKey } = options;
  if (maxEpsilon !== undefined && !(typeof maxEpsilon === 'number' && maxEpsilon >= 0 && maxEpsilon < Infinity)) {
    wrong('`maxEpsilon` must be a finite number, 0 or more');
  }
  if (!(typeof maxCost === 'number' && maxCost >= 0)) wrong('`maxCost` must be a number, 0 or more');
  if ((signature === undefined) !== (publicKey === undefined)) {
    wrong('`signature` and `publicKey` must be given together: a signature proves nothing without a pinned key');
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return wrong('the plan is not JSON');
  }
}

// ---- The shape of a plan file: every field is known and of its type

const isText = (value) => typeof value === 'string';
const isCount = (value) => Number.isInteger(value) && value >= 0 && value <= 2 ** 53;
const isDigits = (value) => isText(value) && /^\d{1,25}$/.test(value) && BigInt(value) < FULL_WEIGHT;
const isInteger = (value) => isCount(value) || isDigits(value);
const isEpsilon = (value) => value === null || (isText(value) && /^\d+(\.\d+)?$/.test(value));
const listOf = (is) => (value) => Array.isArray(value) && value.every(is);
const optional = (is) => (value) => value === undefined || is(value);

/** Whether a value is an object with these fields, each of which passes its test, and no others. */
const shape = (fields) => (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  && Object.keys(value).every((name) => Object.hasOwn(fields, name))
  && Object.entries(fields).every(([name, is]) => is(own(value, name)));

/** Whether a value is an object with one of these fields and nothing else. */
const oneOf = (kinds) => (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  && Object.keys(value).length === 1 && Object.entries(value).every(([kind, content]) => own(kinds, kind)?.(content));

const isSet = (value) => value === 'all' || oneOf({
  only: listOf(isCount),
  hits: listOf(isCount),
  threshold: shape({ weights: listOf(isInteger), limit: isInteger }),
  bitmap: isText,
})(value);

const isChannel = oneOf({
  pattern: shape({
    categories: listOf(isCount),
    answer_sizes: listOf(isCount),
    parts: listOf(shape({ set: isSet, weight: isInteger })),
    resampling: optional(listOf(isInteger)),
  }),
  matrix: shape({
    categories: listOf(isCount),
    outputs: listOf(isText),
    bits: optional(isCount),
    total: optional(isInteger),
    columns: listOf(listOf(isInteger)),
  }),
  strip: shape({
    attributes: listOf(isCount),
    categories: listOf(isCount),
    cells: (value) => isCount(value) || listOf(isCount)(value) || shape({ listed: listOf(isCount) })(value),
    hit: isInteger,
    all: isInteger,
  }),
});

const isAttribute = shape({
  name: isText,
  kind: (value) => value === 'nominal' || value === 'ordinal',
  public: optional((value) => value === true),
  edges: optional(listOf(isText)),
  grid: optional(listOf(isText)),
  asked_if: optional(shape({ attribute: isText, categories: listOf(isText) })),
  categories: listOf(isText),
});

const isForPrior = shape({ attribute: isText, prior: listOf(isText), map_privacy: isText, worst_posterior: isText });
const isAttributeGuarantee = shape({ name: isText, marginal_epsilon: isEpsilon, conditional_epsilon: isEpsilon });

/** The fields of a plan file, by name. */
const PLAN_FIELDS = {
  format: isText,
  version: isCount,
  fingerprint: isText,
  guarantee: shape({
    epsilon: isEpsilon,
    attributes: listOf(isAttributeGuarantee),
    for_prior: optional(isForPrior),
  }),
  // How the plan came about is informative: nothing here depends on it.
  origin: () => true,
  schema: shape({ attributes: listOf(isAttribute) }),
  blocks: listOf(shape({
    attributes: listOf(isText),
    lottery: listOf(shape({ weight: isInteger, channel: isChannel })),
  })),
};

function checkFields(plan) {
  const unknown = Object.keys(plan).find((name) => !Object.hasOwn(PLAN_FIELDS, name));
  if (unknown !== undefined) wrong(`the plan has an unknown field, ${JSON.stringify(unknown)}`);
  const [bad] = Object.entries(PLAN_FIELDS).find(([name, is]) => !is(own(plan, name))) ?? [];
  if (bad) wrong(`\`${bad}\` of the plan has missing, unknown or mistyped fields`);
}

// ---- Schemas

function readAttribute(attribute) {
  const numbers = (texts = []) => texts.map(Number);
  return { ...attribute, edges: numbers(attribute.edges), grid: numbers(attribute.grid) };
}

/** The columns that an attribute is made of: itself, or what stands between `*`. */
const sources = (name) => (name.split('*').includes('') ? [name] : name.split('*'));

function checkSchema(attributes) {
  if (!attributes.length) wrong('the schema has no attribute');
  const names = new Set();
  for (const { name, public: open, edges, grid, categories } of attributes) {
    const rising = (numbers) => numbers.every((n, i) => Number.isFinite(n) && (i === 0 || numbers[i - 1] < n));
    const bins = edges.length ? edges.length + 1 : grid.length;
    const problem = (name === '' && 'has no name')
      || (/\p{Cc}/u.test(name) && 'has control characters in its name')
      || (name.startsWith('candor_') && 'has a reserved name')
      || (names.has(name) && 'is in the schema twice')
      || ((categories.length < (open ? 1 : 2) || categories.length > MAX_CATEGORIES) && 'has too few or too many categories')
      || (new Set(categories).size < categories.length && 'lists a category twice')
      || (!(rising(edges) && rising(grid)) && 'needs finite numbers in increasing order')
      || (((edges.length && grid.length) || grid.length === 1) && 'takes edges or a grid of two or more points')
      || (categories.length < bins && 'has fewer categories than bins or points');
    if (problem) wrong(`the attribute ${JSON.stringify(name)} ${problem}`);
    names.add(name);
  }
  const named = (name) => [name, ...name.split('*').filter((part) => part !== '')];
  const hidden = new Set(attributes.filter((attribute) => !attribute.public).flatMap(({ name }) => named(name)));
  const reveals = ({ name, public: isPublic }) => isPublic && named(name).some((part) => hidden.has(part));
  const open = attributes.find(reveals);
  if (open) wrong(`"${open.name}" is public, but shares a column with a randomized attribute`);
}

/** Who is asked what, parents first: the attribute, its parent, and the parent's categories for which it is asked. */
function conditions(attributes) {
  const all = attributes.map(({ asked_if: condition, public: open, categories, name }, at) => {
    if (!condition) return null;
    const other = attributes.findIndex((attribute) => attribute.name === condition.attribute);
    const asks = condition.categories.map((label) => attributes[other]?.categories.indexOf(label) ?? -1);
    const possible = asks.length && !asks.includes(-1) && categories.at(-1) === NOT_ASKED;
    if (!possible) wrong(`"${name}" cannot be asked as the plan says`);
    if (attributes[other].grid.length) wrong(`"${name}" depends on an attribute that is rounded at random`);
    if (open && !attributes[other].public) wrong(`"${name}" is public, but depends on a randomized attribute`);
    return { at, other, asks, depth: 0 };
  });
  for (const rule of all) {
    for (let next = rule; next; next = all[next.other]) {
      if (rule.depth++ > all.length) wrong('a question depends on itself');
    }
  }
  return all.filter(Boolean).sort((a, b) => a.depth - b.depth);
}

/** Whether each question is asked after these answers; a page hides the others. The response has the same form. */
export function asked(plan, record) {
  const flags = plan.attributes.map(() => true);
  for (const { at, other, asks } of plan.conditions) {
    const { name, categories } = plan.attributes[other];
    const value = own(record, name);
    const code = value === undefined ? -1 : codeOf(plan.attributes[other], `${value ?? ''}`);
    flags[at] = asks.includes(flags[other] ? code : categories.length - 1);
  }
  return flags;
}

// ---- Blocks and channels

function readBlock({ attributes: names, lottery }, number, attributes) {
  const members = names.map((name) => {
    const at = attributes.findIndex((attribute) => attribute.name === name);
    return at < 0 ? wrong(`block ${number} names the attribute "${name}", which the schema does not have`) : at;
  });
  const sizes = members.map((at) => attributes[at].categories.length);
  if (!lottery.length) wrong(`block ${number} has no channel`);
  const drawn = lottery.map(({ weight, channel }) => {
    const [[kind, content]] = Object.entries(channel);
    return { weight: BigInt(weight), channel: CHANNELS[kind](content, sizes, `block ${number}`) };
  });
  const weights = drawn.map(({ weight }) => weight);
  if (weights.includes(0n) || sum(weights) > FULL_WEIGHT || weights.length > 65535) {
    wrong(`block ${number}: lottery weights must be positive, at most 65535, and sum to at most 2^64`);
  }
  const outputs = drawn.map(({ channel }) => (channel.outputs ? JSON.stringify(channel.outputs) : null));
  if (outputs.some((other) => other !== outputs[0])) wrong(`block ${number} mixes channels that answer differently`);
  return { members, lottery: drawn };
}

/** Reads a channel of each kind, for attributes of these sizes. */
const CHANNELS = { matrix: readMatrix, pattern: readPattern, strip: readStrip };

const fit = (categories, sizes, where) => {
  if (String(categories) !== String(sizes) || !sizes.length) wrong(`${where}: categories differ from the schema's`);
};

function readMatrix(content, sizes, where) {
  fit(content.categories, sizes, where);
  const { bits, outputs } = content;
  const [total, columns] = [content.total === undefined ? null : BigInt(content.total), content.columns];
  const powerOfTwo = total !== null && (total & (total - 1n)) === 0n;
  if ((bits === undefined) === (total === null) || powerOfTwo || bits < 1 || bits > 64) {
    wrong(`${where}: a matrix has \`bits\` from 1 to 64, or a \`total\` that is not a power of two`);
  }
  const inputs = product(sizes);
  if (columns.length !== inputs || inputs > MAX_CATEGORIES) wrong(`${where}: not one column for each input`);
  if (!outputs.length || outputs.length > MAX_CATEGORIES || new Set(outputs).size < outputs.length) {
    wrong(`${where}: the outputs of a matrix must be from 1 to ${MAX_CATEGORIES} different labels`);
  }
  const whole = total ?? 1n << BigInt(bits);
  const read = columns.map((column) => column.map(BigInt));
  if (read.some((column) => column.length !== outputs.length || sum(column) !== whole)) {
    wrong(`${where}: a column has the wrong length or sum`);
  }
  return { kind: 'matrix', sizes, total: whole, columns: read, outputs };
}

function readPattern(content, sizes, where) {
  fit(content.categories, sizes, where);
  const answers = content.answer_sizes;
  if (answers.length !== sizes.length || answers.some((q, i) => !(q >= 1 && q <= sizes[i]))) {
    wrong(`${where}: answer sizes must be from 1 to the number of categories`);
  }
  const parts = content.parts.map(({ set, weight }) => ({ set: readSet(set, sizes, where), weight: BigInt(weight) }));
  const weights = parts.map((part) => part.weight);
  if (!parts.length || parts.length > 4096 || weights.includes(0n) || sum(weights) > FULL_WEIGHT) {
    wrong(`${where}: a pattern channel has from 1 to 4096 parts of positive weights that sum to at most 2^64`);
  }
  const resampling = (content.resampling ?? sizes.map(() => 0)).map(BigInt);
  if (resampling.length !== sizes.length) wrong(`${where}: resampling takes one weight for each attribute`);
  for (const { set } of parts) {
    if (set.kind === 'threshold' && sizes.length > 20) set.share = measured(set, sizes, answers, where);
  }
  const ways = sizes.map((a, i) => [choose(a - 1, answers[i] - 1), choose(a - 1, answers[i])]);
  return { kind: 'pattern', sizes, answers, parts, resampling, ways };
}

function readStrip({ attributes, categories, cells, hit, all }, sizes, where) {
  if (attributes.some((at, i) => !(at < sizes.length) || (i > 0 && attributes[i - 1] >= at))) {
    wrong(`${where}: a strip takes places of the block in increasing order`);
  }
  fit(categories, attributes.map((at) => sizes[at]), where);
  const order = stripOrder(categories);
  const strip = stripCells(cells, categories, order);
  if (!strip) wrong(`${where}: a strip of ${JSON.stringify(cells)} of ${order.length} cells`);
  const weights = [BigInt(hit), BigInt(all)];
  if (weights.includes(0n) || sum(weights) > FULL_WEIGHT) {
    wrong(`${where}: the weights of a strip must be positive and sum to at most 2^64`);
  }
  return { kind: 'strip', attributes, sizes: categories, strip, total: order.length, weights };
}

/** The cells of a set, which is so many in strip order, a box or listed; nothing if it is none, everything or out of order. */
function stripCells(cells, categories, order) {
  if (Array.isArray(cells)) {
    const inside = (cell) => digits(cell, categories).every((x, i) => x < cells[i]);
    const fits = cells.length === categories.length && cells.every((q, i) => q >= 1 && q < categories[i]);
    return fits ? order.map((_, cell) => cell).filter(inside) : null;
  }
  const { listed } = cells;
  if (!listed) return cells >= 1 && cells < order.length ? order.slice(0, cells) : null;
  const rise = listed.every((cell, i) => cell < order.length && (i === 0 || listed[i - 1] < cell));
  return rise && listed.length >= 1 && listed.length < order.length ? listed : null;
}

/** How many characters the labels of the cells of one strip, and of all strips of a plan, may have. */
const [MAX_CELL_TEXT, MAX_ALL_CELL_TEXT] = [2 ** 26, 2 ** 30];

/** How long the labels of all cells are together: each category stands in as many cells as any other of its list. */
function cellText(lists) {
  const cells = product(lists.map((list) => list.length));
  const length = (list) => list.reduce((all, label) => all + label.length + 1, 0);
  return lists.reduce((all, list) => all + (cells / list.length) * length(list), 0);
}

/** Everything about the blocks together. */
function checkBlocks({ attributes, blocks }) {
  const homes = attributes.map(() => 0);
  blocks.forEach(({ members }) => members.forEach((at) => { homes[at] += 1; }));
  const lost = attributes.find((attribute, at) => homes[at] !== (attribute.public ? 0 : 1));
  if (lost) wrong(`"${lost.name}" must be in one block, or in none if it is public`);
  const found = columns({ attributes, blocks });
  if (new Set(found.map(({ name }) => name)).size < found.length) wrong('two columns of responses have the same name');
  const unclear = found.find(({ set, labels }) => set && labels.some((label) => label.includes(';')));
  if (unclear) wrong(`the answers about "${unclear.name}" are sets, so none of its labels may contain ";"`);
  let all = 0;
  blocks.forEach(({ members, lottery }, number) => {
    for (const { channel } of lottery.filter(({ channel: { kind } }) => kind === 'strip')) {
      const lists = channel.attributes.map((place) => attributes[members[place]].categories);
      const length = cellText(lists);
      all += length;
      if (length > MAX_CELL_TEXT || all > MAX_ALL_CELL_TEXT) wrong(`block ${number}: the cells of a strip take too long labels`);
      const labels = lists.reduce((cells, more) => cells.flatMap((cell) => more.map((label) => `${cell}*${label}`)));
      const bad = labels.some((label) => label === '' || label.includes(';')) || new Set(labels).size < labels.length;
      if (bad) wrong(`block ${number}: the cells of a strip cannot be told apart by their labels`);
    }
  });
}

/** A plan is written in the oldest version that can express it, so that it has one fingerprint only. */
function checkVersion({ version, guarantee: { for_prior: prior } }, { attributes, blocks }) {
  const channels = blocks.flatMap(({ lottery }) => lottery.map(({ channel }) => channel));
  const isNew = ({ kind, total }) => kind === 'strip' || (kind === 'matrix' && (total & (total - 1n)) !== 0n);
  const newer = attributes.some(({ grid, asked_if: condition }) => grid.length || condition) || channels.some(isNew);
  const needed = newer || (version > 1 && prior) ? 2 : 1;
  if (version !== needed) wrong(`the plan states version ${version}, but must be of version ${needed}`);
  if (prior === undefined) return;
  const at = attributes.findIndex(({ name }) => name === prior.attribute);
  const block = blocks.find(({ members }) => members.length === 1 && members[0] === at);
  const alone = block?.lottery.length === 1 && block.lottery[0].channel.kind === 'matrix';
  const shares = prior.prior.map(Number);
  if (!alone || shares.length !== attributes[at].categories.length || shares.some((p) => !(p >= 0 && p < Infinity))
    || !shares.some((p) => p > 0)) {
    wrong('a prior takes an attribute with one matrix of its own, and one probability for each of its categories');
  }
}

function choose(n, k) {
  let ways = k < 0 || k > n ? 0n : 1n;
  for (let i = 1; i <= Math.min(k, n - k); i++) ways = (ways * BigInt(n - i + 1)) / BigInt(i);
  return ways;
}

/** The cells of a table, first attribute slowest, in the order of a strip: by the sum of x L/a mod L, then by number. */
function stripOrder(categories) {
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const l = categories.reduce((a, b) => (a / gcd(a, b)) * b, 1);
  const total = categories.reduce((a, b) => a * b, 1);
  if (total > 65536) wrong(`a strip over ${total} cells; at most 65536`);
  const key = (cell) => digits(cell, categories).reduce((at, x, i) => (at + x * (l / categories[i])) % l, 0);
  return Array.from({ length: total }, (_, cell) => [key(cell), cell]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, cell]) => cell);
}

/** The categories of a cell, first attribute slowest. */
function digits(cell, sizes) {
  const codes = [];
  for (let i = sizes.length - 1; i >= 0; i--) {
    codes[i] = cell % sizes[i];
    cell = Math.floor(cell / sizes[i]);
  }
  return codes;
}

/** The names of a plan's response columns, with what stands in them, in order. */
function columns({ attributes, blocks }) {
  const found = [];
  attributes.forEach(({ name, public: open, categories }, attribute) => {
    if (open) found.push({ name, attribute, labels: categories });
    blocks.forEach(({ members, lottery }, block) => {
      const place = members.indexOf(attribute);
      const matrix = lottery[0].channel.outputs;
      if (place < 0 || (matrix && place > 0)) return;
      if (matrix) found.push({ name: members.map((at) => attributes[at].name).join('*'), block, place, labels: matrix });
      else found.push({ name, block, place, labels: categories, set: lottery.some(({ channel }) => channel.answers?.[place] > 1) });
    });
  });
  const numbered = (name, take) => blocks.map((block, at) => at).filter((at) => take(blocks[at]))
    .forEach((block, n) => found.push({ name: n ? `${name}_${n + 1}` : name, block, [name]: true }));
  numbered('candor_tag', ({ lottery }) => lottery.length > 1);
  numbered('candor_cells', ({ lottery }) => lottery.some(({ channel }) => channel.kind === 'strip'));
  return found;
}

// ---- Sets of patterns: automata that read the attributes in order and are told of each whether it misses

function readSet(set, sizes, where) {
  const k = sizes.length;
  const [kind, content] = isText(set) ? [set] : Object.entries(set)[0];
  if (kind === 'all') return { kind, start: 0, step: () => 0, ends: () => true };
  if (kind === 'only' || kind === 'hits') {
    const listed = new Set(content);
    if (content.some((i, at) => !(i < k) || (at > 0 && content[at - 1] >= i))) {
      wrong(`${where}: "${kind}" takes numbers of attributes in increasing order`);
    }
    const fits = kind === 'only' ? (i, miss) => miss === listed.has(i) : (i, miss) => !(miss && listed.has(i));
    return { kind, listed, start: 0, step: (state, i, miss) => (fits(i, miss) ? 0 : null), ends: () => true };
  }
  if (kind === 'bitmap') {
    const bytes = Math.ceil(2 ** k / 8);
    if (k > 20 || content.length !== 2 * bytes || !/^[0-9a-f]*$/.test(content)
      || (k < 3 && parseInt(content, 16) >> (2 ** k))) {
      wrong(`${where}: a bitmap has one bit for each pattern of at most 20 attributes, as hexadecimal digits`);
    }
    const listed = Uint8Array.from({ length: bytes }, (_, at) => parseInt(content.slice(2 * at, 2 * at + 2), 16));
    const has = (p) => ((listed[p >> 3] >> (p & 7)) & 1) === 1;
    return { kind, has, start: 0, step: (p, i, miss) => (miss ? p | (1 << i) : p), ends: has };
  }
  if (content.weights.length !== k) wrong(`${where}: a threshold has one weight for each attribute`);
  return threshold(content.weights.map(BigInt), BigInt(content.limit));
}

/** The state is what may still miss: the largest sum of the attributes to come that fits, where those are listed. */
function threshold(weights, limit) {
  const k = weights.length;
  let sums;
  const listed = () => {
    const lists = [];
    for (let i = k, list = [0n]; i >= Math.max(0, k - 12); i--) {
      if (i < k) list = [...new Set(list.concat(list.map((other) => other + weights[i])))].sort(ascendingBigInts);
      lists[i] = list;
    }
    return lists;
  };
  const after = weights.map((_, i) => sum(weights.slice(i + 1)));
  const least = (left, i) => {
    sums ??= listed();
    if (!sums[i + 1]) return left < after[i] ? left : after[i];
    return sums[i + 1][countUpTo(sums[i + 1], left) - 1];
  };
  const step = (left, i, miss) => {
    const rest = miss ? left - weights[i] : left;
    return rest < 0n ? null : least(rest, i);
  };
  return { kind: 'threshold', start: limit, step, ends: () => true, weights, limit };
}

const ascendingBigInts = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** How many of these numbers, in increasing order, are at most the limit. */
function countUpTo(list, limit) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether membership can depend on the attribute. */
function looksAt(set, i) {
  if (set.kind === 'hits') return set.listed.has(i);
  return set.kind === 'threshold' ? set.weights[i] > 0n : set.kind !== 'all';
}

/** Whether a set contains every pattern that is inside one it contains. */
const isDownClosed = ({ kind, listed }) => kind !== 'bitmap' && (kind !== 'only' || listed.size === 0);

/** Whether the pattern in which exactly these attributes miss is in the set. */
function holds(set, missing) {
  const state = set.start;
  if (set.kind === 'all') return true;
  if (set.kind === 'only') return missing.length === set.listed.size && missing.every((i) => set.listed.has(i));
  if (set.kind === 'hits') return !missing.some((i) => set.listed.has(i));
  if (set.kind === 'threshold') return sum(missing.map((i) => set.weights[i])) <= state;
  return set.has(missing.reduce((pattern, i) => pattern | (1 << i), 0));
}

/** Membership of all patterns over these attributes, by number, where no other attribute misses. */
function membership(set, attributes) {
  const t = attributes.length;
  if (set.kind === 'all') return new Uint8Array(2 ** t).fill(1);
  if (set.kind === 'threshold') return thresholdMembership(set, attributes);
  const masks = attributes.map((i) => 2 ** i);
  if (set.kind !== 'bitmap') {
    const listed = attributes.reduce((mask, i, at) => (set.listed.has(i) ? mask | (1 << at) : mask), 0);
    const whole = attributes.filter((i) => set.listed.has(i)).length === set.listed.size;
    if (set.kind === 'hits') return Uint8Array.from({ length: 2 ** t }, (_, p) => +((p & listed) === 0));
    return Uint8Array.from({ length: 2 ** t }, (_, p) => +(whole && p === listed));
  }
  const numbers = new Int32Array(2 ** t);
  masks.forEach((mask, at) => { for (let p = 0; p < 1 << at; p++) numbers[p | (1 << at)] = numbers[p] | mask; });
  return Uint8Array.from(numbers, (p) => +set.has(p));
}

/** In rows of at most 2^10 patterns, so that few sums are long integers. */
function thresholdMembership({ weights, limit }, attributes) {
  const sums = (some) => some.reduce((all, i) => all.concat(all.map((other) => other + weights[i])), [0n]);
  const [low, high] = [sums(attributes.slice(0, 10)), sums(attributes.slice(10))];
  const order = low.map((_, place) => place).sort((a, b) => ascendingBigInts(low[a], low[b]));
  const sorted = order.map((place) => low[place]);
  const rank = new Int32Array(low.length);
  order.forEach((place, at) => { rank[place] = at; });
  const members = new Uint8Array(low.length * high.length);
  high.forEach((more, row) => {
    const [inside, from] = [countUpTo(sorted, limit - more), row * low.length];
    for (let place = 0; place < low.length; place++) members[from + place] = rank[place] < inside ? 1 : 0;
  });
  return members;
}

/** The number of ways to answer the attributes from `i` on so that the pattern is in the set. */
function completions(set, ways, i = 0, state = set.start) {
  if (state === null) return 0n;
  if (i === ways.length) return set.ends(state) ? 1n : 0n;
  set.known ??= [];
  const known = (set.known[i] ??= new Map());
  let count = known.get(state);
  if (count === undefined) {
    const of = (miss) => (ways[i][+miss] ? ways[i][+miss] * completions(set, ways, i + 1, set.step(state, i, miss)) : 0n);
    known.set(state, (count = of(false) + of(true)));
  }
  return count;
}

/** Whether a threshold over more than 20 attributes is drawn by rejection: it holds one in 4,096 of all answers. */
const isCommon = (set) => set.share !== undefined && set.share.inside >= 1 / 4096;

/** Measures a threshold over more than 20 attributes, and rejects one that cannot be drawn. */
function measured(set, sizes, answers, where) {
  const { weights, limit } = set;
  const share = measure(weights, limit, sizes.map((a, i) => [answers[i] / a, (a - answers[i]) / a]), where);
  const tooLarge = () => wrong(`${where}: a threshold has too many distinct sums to be counted and drawn`);
  if (share.inside * (1 - share.error) >= 1 / 4096) return share;
  if (share.inside * (1 + share.error) >= 1 / 4096) tooLarge();
  for (let i = 0, states = new Set([set.start]), all = 1; i < weights.length; i++) {
    const next = new Set([...states].flatMap((state) => [set.step(state, i, false), set.step(state, i, true)]));
    next.delete(null);
    states = next;
    if ((all += states.size) > 1 << 18) tooLarge();
  }
  return share;
}

/**
 * The probability of a threshold set, and of the part of it in which each attribute misses, in floats with a proven
 * relative error: sums and products of positive numbers.
 */
function measure(weights, limit, ways, where) {
  const k = weights.length;
  const table = (k + 1) * (Number(limit) + 1);
  if (k > 30 && table > 2 ** 24) wrong(`${where}: a threshold needs a table of ${table} sums, more than 2^24`);
  const { inside, missing } = k <= 30 ? byHalves(weights, limit, ways, [0, 1]) : bySums(weights, Number(limit), ways);
  const roundings = k <= 30 ? 4 * k + 2 ** (Math.ceil(k / 2) + 1) : 6 * k + 2 * (Number(limit) + 1);
  if (!(inside >= SMALLEST)) wrong(`${where}: a threshold is too rare to be measured`);
  return { inside, missing, error: (roundings + 64) * 2 ** -53 };
}

/** Probabilities below this are not told from underflow. */
const SMALLEST = 1e-290;

/** What a threshold set has, and the part in which each attribute misses; `ways` are all floats or all BigInts. */
function byHalves(weights, limit, ways, [zero, one]) {
  const middle = weights.length >> 1;
  const half = (from, to) => {
    let [sums, have] = [[0n], [one]];
    for (let i = from; i < to; i++) {
      sums = sums.concat(sums.map((other) => other + weights[i]));
      have = have.map((n) => n * ways[i][0]).concat(have.map((n) => n * ways[i][1]));
    }
    const order = sums.map((_, pattern) => pattern).sort((a, b) => ascendingBigInts(sums[a], sums[b]));
    return { sums, have, order };
  };
  const joint = (one_, other) => {
    const total = [zero];
    for (const pattern of other.order) total.push(total.at(-1) + other.have[pattern]);
    const sorted = other.order.map((pattern) => other.sums[pattern]);
    return one_.sums.map((some, pattern) => one_.have[pattern] * total[countUpTo(sorted, limit - some)]);
  };
  const missed = (list, bits) => Array.from({ length: bits }, (_, bit) => {
    let all = zero;
    for (let pattern = 0; pattern < list.length; pattern++) if ((pattern >> bit) & 1) all += list[pattern];
    return all;
  });
  const [low, high] = [half(0, middle), half(middle, weights.length)];
  const [below_, above] = [joint(low, high), joint(high, low)];
  const missing = [...missed(below_, middle), ...missed(above, weights.length - middle)];
  return { inside: above.reduce((all, n) => all + n, zero), missing };
}

/** The same in floats for more attributes: one pass forward and one backward over the sum. */
function bySums(weights, limit, ways) {
  const [k, width] = [weights.length, limit + 1];
  const shift = (i) => (weights[i] > BigInt(limit) ? width : Number(weights[i]));
  const add = (last, next, i) => {
    const [[hit, miss], by] = [ways[i], shift(i)];
    for (let s = 0; s < width; s++) next[s] = hit * last[s] + (s >= by ? miss * last[s - by] : 0);
  };
  const ahead = new Float64Array(width * (k + 1));
  ahead[0] = 1;
  const row = (i) => ahead.subarray(i * width, (i + 1) * width);
  for (let i = 0; i < k; i++) add(row(i), row(i + 1), i);
  let [behind, spare] = [new Float64Array(width).fill(1), new Float64Array(width)];
  const missing = new Array(k);
  for (let i = k - 1; i >= 0; i--) {
    const [here, left] = [row(i), width - shift(i)];
    let folded = 0;
    for (let s = 0; s < left; s++) folded += here[s] * behind[left - 1 - s];
    missing[i] = ways[i][1] * folded;
    add(behind, spare, i);
    [behind, spare] = [spare, behind];
  }
  return { inside: row(k).reduce((all, p) => all + p, 0), missing };
}

// ---- What a plan guarantees: computed from its integers by the formulas of docs/formats.md, rounded up
//
// Ratios are pairs of BigInts, [1n, 0n] if infinite; losses are their logarithms as floats, Infinity if unbounded.

/** How far a stated epsilon may be below the computed one: the rounding of its twelfth decimal, as in the command. */
const slack = (epsilon) => 3e-12 * (1 + epsilon);

/** Slightly more than the error of logarithms, as in the command. */
const up = (x) => x * (1 + 2 ** -50);

function bitLength(n) {
  const digits_ = n.toString(16);
  return 4 * digits_.length - (Math.clz32(parseInt(digits_[0], 16)) - 28);
}

/** `[q, s]` with `q` of 65 bits and `q 2^s <= n / d < (q + 1) 2^s`; both positive. */
function scaled(n, d) {
  const bits = bitLength(n) - bitLength(d);
  const reaches = bits >= 0 ? n >= d << BigInt(bits) : n << BigInt(-bits) >= d;
  const shift = 64 - (reaches ? bits : bits - 1);
  return [shift >= 0 ? (n << BigInt(shift)) / d : n / (d << BigInt(-shift)), -shift];
}

/** `x 2^exponent` without underflow on the way. */
const scale = (x, exponent) => (exponent >= -1000 ? x * 2 ** exponent
  : x * 2 ** -1000 * 2 ** Math.max(exponent + 1000, -1000));

/** `n / d` as a float, within two units in the last place. */
function quotient(n, d) {
  if (n === 0n) return 0;
  const [q, exponent] = scaled(n, d);
  return scale(Number(q), exponent);
}

/** `|ln(a / b)|`, rounded up; 0/0 counts as 1 and a/0 as infinite. The difference is exact, so tiny losses are, too. */
function logRatio([a, b]) {
  const [larger, smaller] = a > b ? [a, b] : [b, a];
  if (larger === smaller) return 0;
  if (smaller === 0n) return Infinity;
  const [q, exponent] = scaled(larger - smaller, smaller);
  // Beyond the range of floats, from the number of bits.
  if (exponent + 64 > 1000) return up((exponent + 66) * Math.LN2);
  return up(Math.log1p(scale(Number(q + 1n), exponent) * (1 + 2 ** -52)));
}

const isLarger = ([a, b], [c, d]) => a * d > c * b;
const worstRatio = (ratios) => ratios.reduce((worst, ratio) => (isLarger(ratio, worst) ? ratio : worst), [1n, 1n]);

/** The exact value of a float that is positive or zero. */
function rational(x) {
  let denominator = 1n;
  for (; !Number.isInteger(x); x *= 2) denominator *= 2n;
  return [BigInt(x), denominator];
}

/** A float with a relative error, from both sides. */
const around = (x, error) => [x * (1 - error) * (1 - 2 ** -52), x * (1 + error) * (1 + 2 ** -52)];

/** An epsilon as plans state it: decimals rounded up to twelve places; null if unbounded. */
function decimal(epsilon) {
  if (epsilon === Infinity) return null;
  const [n, d] = rational(epsilon);
  const text = String((n * 10n ** 12n + d - 1n) / d).padStart(13, '0');
  return `${text.slice(0, -12)}.${text.slice(-12)}`.replace(/\.?0+$/, '');
}

/**
 * Compares what a plan states with what its channels give, and rejects it if it states less. Returns the larger of
 * the two for each number, so that no number is below the loss that it is about.
 */
function checkedGuarantee(stated, actual) {
  const checked = (what, text, { low, high }) => {
    const number = text === null ? Infinity : Number(text);
    if (number < low && !(number >= low - slack(low))) {
      wrong(`the plan states ${what} as ${text}, but it is ${decimal(low) ?? 'unbounded'}: do not trust this plan`);
    }
    return number >= high ? text : decimal(high);
  };
  const names = actual.attributes.map(({ name }) => name);
  if (JSON.stringify(stated.attributes.map(({ name }) => name)) !== JSON.stringify(names)) {
    wrong('the plan must state a guarantee for each randomized attribute, in the order of the schema');
  }
  const epsilon = checked('the epsilon of the record', stated.epsilon, actual.epsilon);
  const attributes = actual.attributes.map(({ name, marginal, conditional }, at) => {
    const { marginal_epsilon: alone, conditional_epsilon: known } = stated.attributes[at];
    if (marginal === null && alone !== null) wrong(`a marginal epsilon is stated for "${name}", which has no own answer`);
    return {
      name,
      marginal_epsilon: marginal === null ? null
        : checked(`the marginal epsilon of "${name}"`, alone, { low: marginal, high: marginal }),
      conditional_epsilon: checked(`the conditional epsilon of "${name}"`, known, conditional),
    };
  });
  return { epsilon, attributes };
}

/**
 * Computes the losses of a plan: of the record, and the marginal and conditional ones of each randomized attribute.
 * `low` and `high` bound the loss, and are equal but for some attributes that are tied (README.md); a marginal loss is
 * null where the attribute has no answer of its own. `spends` holds for each block what one more answer of it adds to
 * the conditional losses, by name.
 */
export function guaranteeOf(plan) {
  const { attributes, blocks } = plan;
  const losses = blocks.map(({ members, lottery }) => blockLoss(members, lottery));
  // Blocks are answered independently: their ratios multiply, and the logarithm is taken once.
  const whole = losses.some(({ ratio }) => ratio[1] === 0n) ? [1n, 0n]
    : losses.reduce(([n, d], { ratio: [a, b] }) => [n * a, d * b], [1n, 1n]);
  const epsilon = logRatio(whole);
  const found = attributes.map(({ name }) => ({ name, marginal: 0, conditional: { low: 0, high: 0 } }));
  blocks.forEach(({ members }, block) => members.forEach((at, place) => {
    const loss = losses[block].conditional[place];
    Object.assign(found[at], { marginal: losses[block].marginal[place], conditional: { low: loss, high: loss } });
  }));
  const tied = groupsToCompare(plan);
  const budget = { records: Math.min(MAX_RECORDS, Math.floor(Math.sqrt(MAX_PAIRS / tied.length))), steps: 2 ** 27 };
  for (const group of tied) {
    const conditional = tiedLoss(plan, group, losses, epsilon, budget);
    group.forEach((at) => { found[at].conditional = conditional; });
  }
  // What one answer of a block adds for each attribute; for one that is tied to others, also their blocks.
  const spends = blocks.map(({ members }, block) => {
    const all = new Map(members.map((at) => [attributes[at].name, found[at].conditional.high]));
    for (const group of tied.filter((some) => some.some((at) => members.includes(at)))) {
      group.forEach((at) => all.set(attributes[at].name, logRatio(losses[block].ratio)));
    }
    return all;
  });
  const randomized = found.filter((_, at) => !attributes[at].public);
  return { epsilon: { low: epsilon, high: epsilon }, attributes: randomized, spends };
}

/** The losses of a block. Its lottery is public and tells nothing about the record: the worst channel counts. */
function blockLoss(members, lottery) {
  const channels = lottery.map(({ channel }) => LOSSES[channel.kind](channel));
  const [marginal, conditional] = [members.map(() => 0), members.map(() => 0)];
  for (const { places, marginal: alone, conditional: known } of channels) {
    places.forEach((place, i) => {
      conditional[place] = Math.max(conditional[place], known[i]);
      marginal[place] = marginal[place] === null || alone[i] === null ? null : Math.max(marginal[place], alone[i]);
    });
  }
  return { ratio: worstRatio(channels.map(({ ratio }) => ratio)), marginal, conditional, channels };
}

/**
 * The losses of a channel of each kind: the largest ratio of likelihoods, and by place the conditional and marginal
 * losses. `between(places)` bounds the loss between records that differ at exactly these places of the block, where
 * it does not depend on the categories.
 */
const LOSSES = { matrix: matrixLoss, pattern: patternLoss, strip: stripLoss };

/** What is known of a loss that would take too long to compute; the loss of the whole record bounds it. */
const UNKNOWN = { low: 0, high: Infinity };

/** Whether so many steps are left for losses between records that differ in several attributes; takes them if so. */
function spend(budget, steps) {
  const isLeft = budget.steps >= steps;
  if (isLeft) budget.steps -= steps;
  return isLeft;
}

/** The largest ratio of two entries of one row, among these inputs. */
function rowRatio(columns, inputs) {
  let worst = [1n, 1n];
  for (let output = 0; output < columns[0].length; output++) {
    let [most, least] = [columns[inputs[0]][output], columns[inputs[0]][output]];
    for (const input of inputs) {
      const entry = columns[input][output];
      if (entry > most) most = entry;
      if (entry < least) least = entry;
    }
    if (most > 0n && isLarger([most, least], worst)) worst = [most, least];
  }
  return worst;
}

function matrixLoss({ sizes, columns }) {
  const inputs = columns.map((_, input) => input);
  const conditional = sizes.map((size, place) => {
    const stride = product(sizes.slice(place + 1));
    const first = inputs.filter((input) => Math.floor(input / stride) % size === 0);
    const line = (input) => Array.from({ length: size }, (_, code) => input + code * stride);
    return logRatio(worstRatio(first.map((input) => rowRatio(columns, line(input)))));
  });
  const ratio = rowRatio(columns, inputs);
  const marginal = sizes.length === 1 ? [logRatio(ratio)] : sizes.map(() => null);
  return { ratio, places: sizes.map((_, place) => place), conditional, marginal };
}

function stripLoss({ attributes, sizes, strip, total, weights: [hit, all] }) {
  const ratio = [all * BigInt(strip.length) + hit * BigInt(total), all * BigInt(strip.length)];
  const loss = logRatio(ratio);
  // Along each attribute some line of the table holds a part of the strip.
  const conditional = attributes.map(() => loss);
  const between = (places, budget) => {
    const axes = attributes.flatMap((place, axis) => (places.includes(place) ? [axis] : []));
    if (axes.length === 0) return { low: 0, high: 0 };
    if (!spend(budget, 2 ** 16)) return UNKNOWN;
    return { low: axes.length === 1 || leaves(strip, sizes, axes) ? loss : 0, high: loss };
  };
  const marginal = attributes.length === 1 ? [loss] : attributes.map(() => null);
  return { ratio, places: attributes, conditional, marginal, between };
}

/** Whether changing exactly these axes leads from some cell of a strip out of it; false if that takes long to find. */
function leaves(strip, sizes, axes) {
  const inside = new Set(strip);
  const others = product(axes.map((axis) => sizes[axis] - 1));
  for (const cell of strip.slice(0, Math.ceil(2 ** 16 / others))) {
    for (let n = 0; n < others; n++) {
      const codes_ = digits(cell, sizes);
      digits(n, axes.map((axis) => sizes[axis] - 1)).forEach((step, i) => {
        codes_[axes[i]] = (codes_[axes[i]] + 1 + step) % sizes[axes[i]];
      });
      if (!inside.has(codes_.reduce((at, code, i) => at * sizes[i] + code, 0))) return true;
    }
  }
  return false;
}

// ---- Pattern channels: X(S), the likelihood of an answer of pattern S, is the sum of W / N over the parts that hold S

/** Attributes up to which likelihoods are exact integers, and up to which every pattern is looked at. */
const [MAX_EXACT, MAX_ENUMERATED] = [12, 20];

function patternLoss(channel) {
  const { sizes, answers, parts, resampling } = channel;
  const places = sizes.map((_, place) => place);
  const canMiss = (i) => answers[i] < sizes[i];
  const seen = places.filter((i) => canMiss(i) && parts.some(({ set }) => looksAt(set, i)));
  // Hits and misses up to a factor that both share: it cancels in every ratio.
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const odds = sizes.map((a, i) => [answers[i], a - answers[i]].map((n, _, [q, rest]) => BigInt(n / gcd(q, rest))));
  const counts = parts.map(({ set }) => set.share ?? countOf(set, odds));
  if (counts.some(({ inside }) => inside === 0n)) wrong('a set of the plan holds no pattern');
  const isResampled = resampling.some((weight) => weight > 0n);
  const made = { ...channel, places, canMiss, seen, odds, counts, isResampled };
  const exact = sizes.length <= MAX_EXACT && !isResampled;
  const view = exact ? exactView(made) : sizes.length <= MAX_ENUMERATED ? floatView(made) : structureView(made);
  const conditional = places.map((i) => (seen.includes(i) ? view.conditional(i) : 0));
  return { ratio: view.ratio, places, conditional, marginal: marginalLosses(made), between: view.between };
}

/** The answers of a set, counted in odds; of thresholds and bitmaps also those in which each attribute misses. */
function countOf(set, odds) {
  const { kind, listed } = set;
  if (kind === 'threshold') return byHalves(set.weights, set.limit, odds, [0n, 1n]);
  if (kind !== 'bitmap') {
    const factor = ([hit, miss], i) => (kind === 'all' || (kind === 'hits' && !listed.has(i)) ? hit + miss
      : kind === 'only' && listed.has(i) ? miss : hit);
    return { inside: odds.map(factor).reduce((all, n) => all * n, 1n) };
  }
  let answers = [1n];
  for (const [hit, miss] of odds) answers = answers.map((n) => n * hit).concat(answers.map((n) => n * miss));
  const counted = { inside: 0n, missing: odds.map(() => 0n) };
  answers.forEach((n, pattern) => {
    if (n === 0n || !set.has(pattern)) return;
    counted.inside += n;
    for (let i = 0; i < odds.length; i++) if ((pattern >> i) & 1) counted.missing[i] += n;
  });
  return counted;
}

/** `W / N` of each part over a common denominator; null for those that are not wanted. */
function exactRates({ parts, counts }, isWanted) {
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const wanted = parts.map(({ set }) => isWanted(set));
  let denominator = 1n;
  counts.forEach(({ inside }, part) => {
    if (wanted[part]) denominator *= inside / gcd(inside, denominator % inside);
  });
  const rate = ({ weight }, part) => (wanted[part] ? (denominator / counts[part].inside) * weight : null);
  return { numerators: parts.map(rate), denominator };
}

/** Of up to 12 attributes without resampling: exact integers. */
function exactView({ parts, counts, seen, sizes, answers }) {
  const { numerators } = exactRates({ parts, counts }, () => true);
  const sums = Array.from({ length: 2 ** seen.length }, () => 0n);
  parts.forEach(({ set }, part) => {
    membership(set, seen).forEach((member, p) => { if (member) sums[p] += numerators[part]; });
  });
  const values = [...new Set(sums)];
  const number = new Map(values.map((value, at) => [value, at]));
  const classes = Int32Array.from(sums, (value) => number.get(value));
  const [most, least] = [largest(values), values.reduce((a, b) => (b < a ? b : a))];
  const conditional = (attribute) => {
    const bit = 1 << seen.indexOf(attribute);
    const pairs = new Set();
    classes.forEach((at, p) => { if (!(p & bit)) pairs.add(at * values.length + classes[p | bit]); });
    const ratio = (pair) => [values[Math.floor(pair / values.length)], values[pair % values.length]];
    const ordered = [...pairs].map(ratio).filter(([a, b]) => a !== b).map(([a, b]) => (a > b ? [a, b] : [b, a]));
    return logRatio(worstRatio(ordered));
  };
  const logs = Float64Array.from(sums, (value) => -logRatio([most, value]));
  return { ratio: [most, least], conditional, between: betweenPatterns(logs, { seen, sizes, answers }) };
}

/** Of up to 20 attributes: floats with a proven relative error, after resampling. */
function floatView(made) {
  const { parts, counts, seen, sizes, answers, odds, isResampled } = made;
  const [all, total] = [odds.reduce((n, [hit, miss]) => n * (hit + miss), 1n), sum(parts.map(({ weight }) => weight))];
  let values = new Float64Array(2 ** seen.length);
  parts.forEach(({ set, weight }, part) => {
    const rate = quotient(all * weight, counts[part].inside * total);
    const members = membership(set, seen);
    for (let p = 0; p < values.length; p++) values[p] += members[p] ? rate : 0;
  });
  values = resampled(values, made) ?? values;
  const error = (parts.length + 8 * sizes.length + 16) * 2 ** -52;
  const ignores = (bit) => parts.every(({ set }) => {
    const members = membership(set, seen);
    return members.every((member, p) => member === members[p ^ bit]);
  });
  const conditional = (attribute) => {
    const bit = 1 << seen.indexOf(attribute);
    let worst = 1;
    for (let p = 0; p < values.length; p++) {
      const [a, b] = [values[p], values[p ^ bit]];
      if (a > b && a / b > worst) worst = a / b;
    }
    if (worst === Infinity) return Infinity;
    return worst === 1 && ignores(bit) ? 0 : logRatio(rational(around(worst, 3 * error)[1]));
  };
  const [most, least] = [values.reduce((a, b) => Math.max(a, b)), values.reduce((a, b) => Math.min(a, b))];
  const [[a, b], [c, d]] = [rational(around(most, error)[1]), rational(Math.max(0, around(least, error)[0]))];
  const falls = sizes.length > MAX_EXACT && !isResampled && parts.every(({ set }) => isDownClosed(set));
  const ratio = falls ? structureView(made).ratio : c === 0n ? [1n, 0n] : [a * d, b * c];
  const logs = values.map((value) => Math.log(value / most));
  return { ratio, conditional, between: betweenPatterns(logs, { seen, sizes, answers }) };
}

/** Likelihoods after resampling; null if some are beyond the range of floats (no loss is smaller without it). */
function resampled(before, { seen, sizes, answers, resampling }) {
  const values = before.slice();
  for (const [at, i] of seen.entries()) {
    const random = quotient(resampling[i], FULL_WEIGHT);
    const [kept, hit] = [quotient(FULL_WEIGHT - resampling[i], FULL_WEIGHT), answers[i] / sizes[i]];
    for (let p = 0; resampling[i] > 0n && p < values.length; p++) {
      if (p & (1 << at)) continue;
      const [without, missed] = [values[p], values[p | (1 << at)]];
      const mean = hit * without + ((sizes[i] - answers[i]) / sizes[i]) * missed;
      const after = [kept * without + random * mean, kept * missed + random * mean];
      if ((without > 0 || missed > 0) && !(after[0] >= SMALLEST && after[1] >= SMALLEST)) return null;
      [values[p], values[p | (1 << at)]] = after;
    }
  }
  return values;
}

/**
 * The largest loss between records that differ at exactly these places, from the logarithms of all likelihoods. An
 * attribute that differs hits for one record and misses for the other; for both it hits only if answers name two or
 * more categories, and misses only if they leave out two or more.
 */
function betweenPatterns(logs, { seen, sizes, answers }) {
  return (places, budget) => {
    const bits = seen.flatMap((i, at) => (places.includes(i) ? [at] : []));
    const mask = (test) => bits.filter((at) => test(seen[at])).reduce((all, at) => all | (1 << at), 0);
    const all = mask(() => true);
    const [mayHit, mayMiss] = [mask((i) => answers[i] >= 2), mask((i) => sizes[i] - answers[i] >= 2)];
    const whole = bits.length <= 12 && logs.length * 2 ** bits.length <= 2 ** 22;
    if (!spend(budget, whole ? logs.length * 2 ** bits.length : logs.length)) return UNKNOWN;
    let worst = 0;
    for (let flipped = all; flipped; flipped = whole ? (flipped - 1) & all : 0) {
      const same = all & ~flipped;
      for (let p = 0; p < logs.length; p++) {
        const possible = (p & same & ~mayMiss) === 0 && (~p & same & ~mayHit) === 0;
        // Of two that cannot occur, the difference is not a number, and larger than nothing.
        if (possible && logs[p] - logs[p ^ flipped] > worst) worst = logs[p] - logs[p ^ flipped];
      }
    }
    return { low: worst, high: whole ? up(worst) : Infinity };
  };
}

/** Of more attributes, and of likelihoods that fall with every miss: upper bounds from the shape of the sets. */
function structureView({ parts, counts, sizes, odds, places, canMiss }) {
  const all = odds.reduce((n, [hit, miss]) => n * (hit + miss), 1n);
  // The smallest rate is at least 1 / N(all): rounding to this unit changes none by more than 2^-96.
  const unit = BigInt(bitLength(all) + 96);
  const floor = (n, d) => (n << unit) / d;
  const ceil = (n, d) => ((n << unit) + d - 1n) / d;
  const rates = parts.map(({ set, weight }, part) => {
    const { inside, error } = counts[part];
    if (!set.share) return [floor(weight, inside), ceil(weight, inside)];
    const [[ln, ld], [hn, hd]] = around(inside, error).map(rational);
    return [floor(weight * hd, all * hn), ceil(weight * ld, all * ln)];
  });
  const total = (end, isWanted) => sum(rates.filter((_, part) => isWanted(parts[part].set)).map((rate) => rate[end]));
  const value = (missing, end) => total(end, (set) => holds(set, missing));
  const listed = parts.filter(({ set }) => set.kind === 'only').map(({ set }) => value([...set.listed], 1));
  const most = largest([value([], 1), ...listed]);
  const full = places.filter(canMiss);
  const least = total(0, (set) => isDownClosed(set) && holds(set, full));
  const ratio = most === least ? [1n, 1n] : [most, least];
  // X changes by at most the parts that look at an attribute.
  const excess = (some) => total(1, (set) => some.some((i) => looksAt(set, i)));
  const bound = (some) => Math.min(logRatio([least + excess(some), least]), logRatio(ratio));
  const between = (some, budget) => {
    if (!spend(budget, 64 * parts.length)) return UNKNOWN;
    const missing = some.filter(canMiss);
    const [here, there] = [value([], 0), value(missing, 1)];
    return { low: here > there ? logRatio([here, there]) : 0, high: missing.length ? bound(missing) : 0 };
  };
  return { ratio, conditional: (i) => bound([i]), between };
}

/** Marginal losses: `|ln( Pr[hit] m / (Pr[miss] h) )|` with the answers that hit and miss, of each attribute. */
function marginalLosses(made) {
  const { parts, counts, sizes, answers, resampling, odds, places, canMiss } = made;
  const total = sum(parts.map(({ weight }) => weight));
  const isListed = ({ kind, share }) => (kind === 'threshold' && !share) || kind === 'bitmap';
  const { numerators, denominator } = exactRates(made, isListed);
  // Measured shares are rounded outward to multiples of 2^-128.
  const unit = 1n << 128n;
  return places.map((i) => {
    if (!canMiss(i)) return 0;
    const [a, q] = [BigInt(sizes[i]), BigInt(answers[i])];
    let [sure, byChance, counted, low, high] = [0n, 0n, 0n, 0n, 0n];
    parts.forEach(({ set, weight }, part) => {
      const { kind, listed } = set;
      if (set.share) {
        const [least, most] = missingShare(set.share, i).map((share) => rational(Math.min(share, 1)));
        low += weight * (unit - (most[0] * unit + most[1] - 1n) / most[1]);
        high += weight * (unit - (least[0] * unit) / least[1]);
      } else if (isListed(set)) counted += numerators[part] * (counts[part].inside - counts[part].missing[i]);
      else if (kind === 'all' || (kind === 'hits' && !listed.has(i))) byChance += weight;
      else if (kind === 'hits' || !listed.has(i)) sure += weight;
    });
    const whole = (sure * a + byChance * q) * denominator + counted * a;
    const at = (shared) => {
      let [hit, out] = [whole * unit + denominator * a * shared, denominator * a * unit];
      if (resampling[i] > 0n) {
        hit = hit * (FULL_WEIGHT - resampling[i]) * a + out * q * total * resampling[i];
        out *= a * FULL_WEIGHT;
      }
      const miss = out * total - hit;
      return logRatio([hit * odds[i][1], (miss > 0n ? miss : 0n) * odds[i][0]]);
    };
    return Math.max(at(low), at(high));
  });
}

/** The share of a measured set's answers in which the attribute misses, from both sides. */
function missingShare({ inside, missing, error }, i) {
  const [low, high] = around(Math.max(missing[i], SMALLEST) / inside, 2.5 * error);
  return [missing[i] >= SMALLEST ? low : 0, high];
}

// ---- Attributes that are tied: asked depending on each other, or made of a common column
//
// Not every combination of their categories is possible. The conditional loss of each is the largest one between two
// possible records that agree outside their group. Public attributes tie nothing: they are the same in both records.

/** How many possible records of a group are compared with each other, and pairs of records in all groups together. */
const [MAX_RECORDS, MAX_PAIRS] = [512, 2 ** 19];

/** The randomized attributes in groups that are tied; most are alone. */
function groupsOf({ attributes, conditions: rules }) {
  const group = attributes.map((_, at) => at);
  const join = (a, b) => {
    const [from, to] = [group[a], group[b]];
    group.forEach((of, at) => { if (of === from) group[at] = to; });
  };
  const randomized = attributes.map((_, at) => at).filter((at) => !attributes[at].public);
  rules.filter(({ other }) => !attributes[other].public).forEach(({ at, other }) => join(at, other));
  const first = new Map();
  for (const at of randomized) {
    for (const source of sources(attributes[at].name)) {
      if (first.has(source)) join(at, first.get(source));
      else first.set(source, at);
    }
  }
  return [...new Set(randomized.map((at) => group[at]))].map((of) => randomized.filter((at) => group[at] === of));
}

/** Whether some categories of a group are impossible together, or with those of public attributes. */
const isTied = ({ attributes }, group) => group.length > 1 || attributes[group[0]].asked_if !== undefined;

/** The groups whose conditional losses are about possible records only: tied ones, and those in a matrix with them. */
function groupsToCompare(plan) {
  const groups = groupsOf(plan);
  const tied = new Set(groups.filter((group) => isTied(plan, group)).flat());
  const matrices = plan.blocks.filter(({ lottery }) => lottery[0].channel.kind === 'matrix');
  const beside = new Set(matrices.flatMap(({ members }) => (members.some((at) => tied.has(at)) ? members : [])));
  return groups.filter((group) => group.some((at) => tied.has(at) || beside.has(at)));
}

/**
 * Bounds on the largest loss between two possible records that agree outside a group. Both are the loss itself unless
 * the group has more possible records than are compared (categories that no channel and no condition tells apart count
 * as two), a channel of it has more than 20 attributes, or its labels do not show which records are possible.
 */
function tiedLoss(plan, group, losses, epsilon, budget) {
  const { blocks } = plan;
  const touched = blocks.flatMap(({ members }, block) => (members.some((at) => group.includes(at)) ? [block] : []));
  const most = Math.min(epsilon, up(touched.reduce((all, block) => all + logRatio(losses[block].ratio), 0)));
  const { records, context, isComplete } = possibleRecords(plan, group, budget);
  const inside = touched.map((block) => blocks[block].members.map((at) => group.indexOf(at)));
  const between = touched.map((block, i) => {
    const { channels } = losses[block];
    const isMatrix = blocks[block].lottery[0].channel.kind === 'matrix';
    return isMatrix ? betweenInputs(plan, block, group, budget) : betweenPlaces(channels, inside[i], budget);
  });
  const worst = { low: 0, high: 0 };
  for (const one of records) {
    for (const other of records) {
      if (one === other || context.some((at) => one.get(at) !== other.get(at))) continue;
      const codes_ = [one, other].map((record) => group.map((at) => record.get(at)));
      const bounds = between.map((of) => of(...codes_));
      worst.low = Math.max(worst.low, bounds.reduce((all, { low }) => all + low, 0));
      worst.high = Math.max(worst.high, bounds.reduce((all, { high }) => all + high, 0));
    }
  }
  const high = isComplete ? Math.min(most, up(worst.high)) : most;
  return { low: Math.min(worst.low, high), high };
}

/** The loss of a block of patterns and strips between two lists of codes of a group, by which of them differ. */
function betweenPlaces(channels, inside, budget) {
  const known = new Map();
  return (one, other) => {
    const places = inside.flatMap((at, place) => (at >= 0 && one[at] !== other[at] ? [place] : []));
    const key = places.join();
    if (!known.has(key)) {
      const all = places.length ? channels.map(({ between }) => between(places, budget)) : [{ low: 0, high: 0 }];
      known.set(key, { low: Math.max(...all.map(({ low }) => low)), high: Math.max(...all.map(({ high }) => high)) });
    }
    return known.get(key);
  };
}

/** The loss of a block of matrices between two lists of codes of a group, in this direction. */
function betweenInputs(plan, block, group, budget) {
  const { members, lottery } = plan.blocks[block];
  const { sizes, outputs } = lottery[0].channel;
  const { combinations, isExact } = combinationsOf(plan, members.filter((at) => !group.includes(at)), budget);
  return (one, other) => {
    if (!spend(budget, combinations.length * lottery.length * outputs.length)) return UNKNOWN;
    let worst = [1n, 1n];
    for (const outside of combinations) {
      const code = (own_, at) => (group.includes(at) ? own_[group.indexOf(at)] : outside.get(at));
      const input = (own_) => members.reduce((cell, at, i) => cell * sizes[i] + code(own_, at), 0);
      const [here, there] = [input(one), input(other)];
      for (const { channel: { columns: all } } of lottery) {
        all[here].forEach((entry, output) => {
          if (entry > 0n && isLarger([entry, all[there][output]], worst)) worst = [entry, all[there][output]];
        });
      }
    }
    const loss = logRatio(worst);
    return { low: isExact ? loss : 0, high: loss };
  };
}

/** The combinations of codes that some attributes of a matrix can have, as maps; all of them if that is not known. */
function combinationsOf(plan, outside, budget) {
  let [combinations, isExact] = [[new Map()], true];
  const add = (more) => {
    combinations = combinations.flatMap((some) => more.map((one) => new Map([...some, ...one])));
  };
  for (const group of groupsOf(plan).filter((some) => some.some((at) => outside.includes(at)))) {
    const members = group.filter((at) => outside.includes(at));
    const { records, context, isComplete } = isTied(plan, group) ? possibleRecords(plan, group, budget) : {};
    const isKnown = isComplete && context.length === 0;
    if (isKnown) {
      const found = new Map(records.map((record) => [members.map((at) => record.get(at)).join(), record]));
      add([...found.values()].map((record) => members.map((at) => [at, record.get(at)])));
    } else members.forEach((at) => add(plan.attributes[at].categories.map((_, code) => [[at, code]])));
    isExact &&= isKnown || !isTied(plan, group);
  }
  return { combinations, isExact };
}

/**
 * Possible records of a group with the public attributes that it depends on, as maps from positions to codes, and
 * whether these are all. Of categories that make no difference two are taken, so that records may differ in them.
 */
function possibleRecords({ attributes, blocks, conditions: rules }, group, { records: most }) {
  const rule = new Map(rules.map((one) => [one.at, one]));
  const context = [];
  for (const at of [...group, ...context]) {
    for (let next = rule.get(at)?.other; next !== undefined; next = rule.get(next)?.other) {
      if (!group.includes(next) && !context.includes(next)) context.push(next);
    }
  }
  const depth = (at) => rule.get(at)?.depth ?? 0;
  const order = [...context, ...group].sort((a, b) => depth(a) - depth(b));
  const crossed = group.length > 1 && !group.some((at) => rule.has(at));
  const candidates = order.map((at) => {
    const all = attributes[at].categories.map((_, code) => code);
    const matrix = blocks.some(({ members, lottery }) => lottery[0].channel.kind === 'matrix' && members.includes(at));
    if (crossed || matrix) return all;
    const asking = rules.filter(({ other }) => other === at);
    const isLast = (code) => rule.has(at) && code === all.length - 1;
    const kind = (code) => [isLast(code), ...asking.map(({ asks }) => asks.includes(code))].join();
    return all.filter((code) => all.slice(0, code).filter((other) => kind(other) === kind(code)).length < 2);
  });
  // Numbers stand for bins, and labels with `*` can be split in several ways: then it is unclear what is possible.
  const unclear = crossed && group.some((at) => attributes[at].edges.length + attributes[at].grid.length
    || attributes[at].categories.some((label) => label.split('*').length !== sources(attributes[at].name).length));
  if (unclear) return { records: [], context, isComplete: false };
  const records = [];
  let visits = 0;
  const extend = (record, columns_, n) => {
    if (records.length > most || ++visits > 64 * most) return;
    if (n === order.length) {
      records.push(record);
      return;
    }
    const at = order[n];
    const condition = rule.get(at);
    for (const code of candidates[n]) {
      const isLast = code === attributes[at].categories.length - 1;
      if (condition && condition.asks.includes(record.get(condition.other)) === isLast) continue;
      const known = new Map(columns_);
      const parts = crossed ? sources(attributes[at].name) : [];
      const label = attributes[at].categories[code];
      const labels = parts.length === 1 ? [label] : label.split('*');
      if (parts.some((part, i) => known.has(part) && known.get(part) !== labels[i])) continue;
      parts.forEach((part, i) => known.set(part, labels[i]));
      extend(new Map(record).set(at, code), known, n + 1);
    }
  };
  extend(new Map(), new Map(), 0);
  const isWhole = records.length <= most && visits <= 64 * most;
  // Where nobody could have some category, labels do not say what their columns hold (`yes` beside `Y*m`).
  const occurs = (at, n) => new Set(records.map((record) => record.get(at))).size === candidates[n].length;
  if (crossed && isWhole && !order.every(occurs)) return { records: [], context, isComplete: false };
  return { records: records.slice(0, most), context, isComplete: isWhole };
}

// ---- The cost of a plan: what checking it takes at most, from the numbers that stand in it

/** Steps, of some nanoseconds each, as docs/limits.md counts them for the command. */
function costOf(blocks, attributes) {
  const channels = blocks.flatMap(({ lottery }) => lottery.map(({ channel }) => Object.entries(channel)[0]));
  const costs = channels.map(([kind, content]) => COSTS[kind](content));
  return costs.reduce((all, cost) => all + cost, 4 * attributes * (attributes + blocks.length));
}

const COSTS = {
  matrix: ({ categories, columns: all }) => {
    const entries = all.reduce((n, column) => n + column.length, 0);
    return entries * (4 + 4 * categories.length);
  },
  strip: ({ categories }) => 128 * Math.min(product(categories), 65536) * categories.length,
  pattern: ({ categories, answer_sizes: answers, parts, resampling = [] }) => {
    const [k, count] = [categories.length, parts.length];
    const words_ = Math.floor(categories.reduce((all, a) => all + 32 - Math.clz32(a), 0) / 64) + 1;
    const looks = ({ set: { hits, threshold: { weights } = {}, ...others } }, i) => (
      hits?.includes(i) || Number(weights?.[i]) > 0 || 'only' in others || 'bitmap' in others);
    const seen = categories.filter((a, i) => a !== answers[i] && parts.some((part) => looks(part, i))).length;
    const listed = parts.filter(({ set }) => set.threshold || set.bitmap !== undefined).length;
    const counting = ({ set }) => {
      if (set.bitmap !== undefined) return (k + 4) * 2 ** Math.min(k, 21) * words_;
      if (!set.threshold) return k * words_;
      if (k <= 20) return (k + 12) * 2 ** (Math.ceil(k / 2) + 1) * words_;
      const sums = k <= 30 ? (k + 12) * 2 ** (Math.ceil(k / 2) + 1)
        : 6 * (k + 1) * Math.min(Number(set.threshold.limit) + 1, 2 ** 26);
      return sums + 32 * 2 ** 18;
    };
    const isResampled = resampling.some((weight) => Number(weight) > 0);
    const certifying = k > 20 ? count * (count + k) * (words_ + 2)
      : k > 12 || isResampled ? (count + k) * 2 ** seen
        : (count + 2 * k) * 2 ** seen * (count * words_ + 4);
    return parts.reduce((all, part) => all + counting(part), 0) + certifying + k * count * (4 + listed * words_);
  },
};

// ---- Randomness. A source is a function that fills an array with fresh bytes.

const fresh = (bytes) => crypto.getRandomValues(bytes);

/** A uniform integer below n. */
function below(n, source) {
  if (n <= 0x100000000n) return BigInt(small(Number(n), source));
  const top = (n - 1n).toString(16);
  const bits = 4 * top.length - (Math.clz32(parseInt(top[0], 16)) - 28);
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    source(bytes);
    bytes[0] &= 0xff >> ((8 - (bits % 8)) % 8);
    const drawn = BigInt(`0x${hex(bytes)}`);
    if (drawn < n) return drawn;
  }
}

/** The same for n up to 2^32. */
function small(n, source) {
  const bits = 32 - Math.clz32(n - 1);
  if (n === 1) return 0;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    source(bytes);
    let drawn = bytes[0] & (0xff >> ((8 - (bits % 8)) % 8));
    for (let i = 1; i < bytes.length; i++) drawn = drawn * 256 + bytes[i];
    if (drawn < n) return drawn;
  }
}

function cumulated(weights, ball) {
  let at = 0;
  for (let under = weights[0]; under <= ball; under += weights[++at]);
  return at;
}

const chooseByWeight = (weights, source) => (weights.length === 1 ? 0 : cumulated(weights, below(sum(weights), source)));

// ---- Drawing

function draw(channel, truth, source) {
  if (channel.kind === 'pattern') return drawPattern(channel, truth, source);
  if (channel.kind === 'strip') return [drawStrip(channel, channel.attributes.map((at) => truth[at]), source)];
  const input = truth.reduce((cell, x, i) => cell * channel.sizes[i] + x, 0);
  return [cumulated(channel.columns[input], below(channel.total, source))];
}

function drawPattern({ sizes, answers, parts, resampling, ways }, truth, source) {
  const { set } = parts[chooseByWeight(parts.map((part) => part.weight), source)];
  const misses = isCommon(set) ? untilInside(set, sizes, answers, source) : byRank(set, ways, source);
  const drawn = truth.map((x, i) => fill(sizes[i], answers[i], x, misses[i], source));
  resampling.forEach((weight, i) => {
    if (weight && below(1n << 64n, source) < weight) drawn[i] = anything(sizes[i], answers[i], source);
  });
  return drawn;
}

function byRank(set, ways, source) {
  const total = completions(set, ways) || wrong('a set of the plan holds no pattern');
  let rank = below(total, source);
  let state = set.start;
  return ways.map(([hit, miss], i) => {
    const after = set.step(state, i, false);
    const hits = hit * completions(set, ways, i + 1, after);
    const missed = rank >= hits;
    state = missed ? set.step(state, i, true) : after;
    rank = missed ? (rank - hits) / miss : rank / hit;
    return missed;
  });
}

function untilInside(set, sizes, answers, source) {
  for (;;) {
    const misses = sizes.map((a, i) => small(a, source) >= answers[i]);
    if (misses.reduce((state, miss, i) => (state === null ? null : set.step(state, i, miss)), set.start) !== null) return misses;
  }
}

const ascending = (codes) => codes.sort((a, b) => a - b);
const anything = (a, q, source) => (q === 1 ? small(a, source) : ascending(subset(a, q, source)));

function fill(a, q, truth, miss, source) {
  const other = (code) => (code < truth ? code : code + 1);
  if (q === 1) return miss ? other(small(a - 1, source)) : truth;
  const others = subset(a - 1, miss ? q : q - 1, source).map(other);
  return ascending(miss ? others : [...others, truth]);
}

/** A random subset (Floyd's method). */
function subset(n, size, source) {
  const taken = new Set();
  for (let j = n - size; j < n; j++) {
    const t = small(j + 1, source);
    taken.add(taken.has(t) ? j : t);
  }
  return [...taken];
}

function drawStrip({ sizes, strip, total, weights }, truth, source) {
  const cell = chooseByWeight(weights, source) === 0 ? strip[small(strip.length, source)] : small(total, source);
  const relabelled = digits(cell, sizes).map((label, i) => {
    const others = Array.from({ length: sizes[i] - 1 }, (_, n) => (n < label ? n : n + 1));
    for (let j = sizes[i] - 2; j >= 1; j--) {
      const t = small(j + 1, source);
      [others[j], others[t]] = [others[t], others[j]];
    }
    return [...others.slice(0, truth[i]), label, ...others.slice(truth[i])];
  });
  const inside = new Set(strip);
  const moved = (c) => digits(c, sizes).reduce((at, x, i) => at * sizes[i] + relabelled[i][x], 0);
  return Array.from({ length: total }, (_, c) => c).filter((c) => inside.has(moved(c)));
}

/** Which channel of its lottery a block answers by. */
export const drawTag = ({ lottery }, source) => chooseByWeight(lottery.map((ticket) => ticket.weight), source);

/** The answers of a block, by one channel of its lottery; `truth` is one category number for each of its attributes. */
export function drawAnswers({ lottery }, tag, truth, source) {
  return { tag: lottery.length > 1 ? tag : null, answers: draw(lottery[tag].channel, truth, source) };
}

/** Draws the answers of every block: `record` is one category number for each attribute of the schema. */
export function drawBlocks(plan, record, source = fresh) {
  return plan.blocks.map((block) => drawAnswers(block, drawTag(block, source), block.members.map((at) => record[at]), source));
}

// ---- Records and responses

/**
 * The category numbers of a record given by attribute names. Numbers are binned where the attribute has edges, and
 * rounded at random to a neighboring point where it has a grid. The answer to a question that is not asked is empty.
 */
export function codes(plan, record, source = fresh) {
  const text = (name) => {
    if (!Object.hasOwn(record, name)) wrong(`the answer to "${name}" is missing`);
    return `${record[name] ?? ''}`;
  };
  const found = plan.attributes.map((attribute) => {
    const { name } = attribute;
    const value = (Object.hasOwn(record, name) ? [name] : sources(name)).map(text).join('*');
    const code = codeOf(attribute, value, source);
    return code < 0 ? wrong(`the answer to "${attribute.name}" is none of its categories`) : code;
  });
  for (const { at, other, asks } of plan.conditions) {
    const { name, categories } = plan.attributes[at];
    const [isAsked, last] = [asks.includes(found[other]), categories.length - 1];
    if (!isAsked && categories[found[at]] === '') found[at] = last;
    if (isAsked === (found[at] === last)) wrong(isAsked ? `the answer to "${name}" is missing, which is asked here` : `the answer to "${name}" must be empty: it is not asked here`);
  }
  return found;
}

function codeOf({ edges, grid, categories, asked_if: condition }, value, source) {
  const text = value.trim();
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (edges.length && Number.isFinite(number)) return edges.filter((edge) => edge <= number).length;
  if (grid.length && number >= grid[0] && number <= grid.at(-1)) return dithered(grid, number, source);
  // A whole number may be written with a point.
  const listed = categories.includes(value) ? value : value.replace(/^(-?\d+)\.0+$/, '$1');
  const code = value === '' && condition && !categories.includes('') ? categories.length - 1 : categories.indexOf(listed);
  return code < (edges.length ? edges.length + 1 : grid.length) ? -1 : code;
}

/** One of the two points of a grid around a number, such that its expectation is the number. */
function dithered(grid, number, source) {
  const low = grid.filter((point) => point <= number).length - 1;
  if (grid[low] === number) return low;
  const chance = (number / 2 - grid[low] / 2) / (grid[low + 1] / 2 - grid[low] / 2);
  return chance > 0 && below(1n << 53n, source) < BigInt(Math.floor(chance * 2 ** 53)) ? low + 1 : low;
}

/** The response of a record whose answers are drawn: what is sent, in the order of its columns. */
export function written(plan, record, blocks) {
  const content = ({ attribute, block, place, labels, set, candor_tag: tag, candor_cells: cells }) => {
    if (attribute !== undefined) return labels[record[attribute]];
    const { tag: drawn, answers } = blocks[block];
    if (tag) return drawn;
    const { channel } = plan.blocks[block].lottery[drawn ?? 0];
    if (channel.kind === 'strip') return cells ? answers[0].map((cell) => cellLabel(plan, block, channel, cell)) : null;
    if (cells) return null;
    return set ? [answers[place]].flat().map((code) => labels[code]) : labels[answers[place]];
  };
  // Fields are defined, not assigned: a column may be named `__proto__`.
  const fields = plan.columns.map((column) => [column.name, content(column)]);
  return Object.fromEntries([['candor_fingerprint', plan.fingerprint], ...fields]);
}

function cellLabel(plan, block, { attributes, sizes }, cell) {
  const labels = (i) => plan.attributes[plan.blocks[block].members[attributes[i]]].categories;
  return digits(cell, sizes).map((code, i) => labels(i)[code]).join('*');
}

/** Answers under a plan: the record stays here, the response may be sent. Each call draws anew and adds its epsilon. */
export function answer(plan, record, source = fresh) {
  const numbers = codes(plan, record, source);
  return written(plan, numbers, drawBlocks(plan, numbers, source));
}

// ---- Asked again

/** Answers once: keeps the first response (never the truth) and a random id in `storage`, and gives the same ever after. */
export function answerOnce(plan, record, { storage = globalThis.localStorage, scope = '' } = {}) {
  const key = `candor:${plan.fingerprint}:${scope}`;
  const kept = storage.getItem(key);
  if (kept) return JSON.parse(kept);
  const made = { id: hex(fresh(new Uint8Array(16))), response: answer(plan, record) };
  storage.setItem(key, JSON.stringify(made));
  return made;
}
