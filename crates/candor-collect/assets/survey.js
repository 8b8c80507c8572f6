// The survey page. True answers live in the controls and in one variable while chance works on them; only the response is sent.
import { CandorError, answer, asked, drawAnswers, drawTag, codes, hex, readPlan, written } from './client.js';

const page = document.getElementById('page');
const embedded = document.getElementById('candor-survey');

/** An element with attributes, and children that are elements or text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const put = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const times = (epsilon) => {
  const factor = Math.exp(Number(epsilon));
  return factor > 1e6 ? factor.toExponential(1) : String(Math.ceil(factor * 10) / 10);
};

async function load() {
  if (embedded) return JSON.parse(embedded.textContent);
  const get = async (path) => (await fetch(path, { cache: 'no-store' })).text();
  const [survey, plan] = await Promise.all([get('survey.json'), get('plan.json')]);
  return { survey: JSON.parse(survey), plan, address: '' };
}

const { survey, plan: planText, address } = await load();
const known = [...navigator.languages].map((code) => code.split('-')[0]).find((code) => survey.languages.includes(code));
const state = { language: known ?? survey.languages[0], id: null };
const words = () => survey.words[state.language];
const say = (name, values = {}) => put(words().texts[name], values);

const invitation = location.hash.slice(1);
const digest = async (text) => hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
// With tokens, nothing that is kept to answer later says which invitation it was.
const scope = invitation && !survey.tokens ? await digest(invitation) : '';
const answering = !survey.tokens || new Date().toISOString().slice(0, 10) > survey.tokens.until;
const tokenPlace = `candor:token:${survey.tokens?.key}`;
const heldToken = () => JSON.parse(survey.tokens ? localStorage.getItem(tokenPlace) : null);

/** The number under which a response can be sent again: the server draws it, before anything is answered. */
const newId = async () => (await (await fetch(`${address}/id`, { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(10000) })).json()).id;

/** The part for tokens: a saved page has it, any other loads it, and only as it was when this script was made. */
const tokenPart = () => globalThis.candorTokens ?? new Promise((resolve, reject) => {
  const script = element('script', { src: 'tokens.js', integrity: '{tokens_integrity}', load: () => resolve(globalThis.candorTokens), error: reject });
  document.head.append(script);
});

/** The first response is kept, and given again. */
function once(key, make) {
  const before = survey.shared_devices ? null : localStorage.getItem(key);
  if (before) return JSON.parse(before);
  const made = make();
  if (!survey.shared_devices) localStorage.setItem(key, JSON.stringify(made));
  return made;
}

function show(...children) {
  document.documentElement.lang = state.language;
  document.title = words().title;
  page.replaceChildren(...children);
}

function languages() {
  if (survey.languages.length < 2) return '';
  const options = survey.languages.map((code) => element('option', { value: code, lang: code, selected: code === state.language }, survey.words[code].texts.language));
  const change = ({ target }) => { state.language = target.value; ask(); document.querySelector('select').focus(); };
  return element('select', { class: 'languages', 'aria-label': 'Language', autocomplete: 'off', change }, ...options);
}

/** A picture of a hundred people, some of them filled. */
function people({ marked, name, key }) {
  const svg = (tag, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
  };
  const person = (x, y, filled) => svg('g', { transform: `translate(${x} ${y})`, class: filled ? 'yes' : 'no' },
    svg('circle', { cx: 7, cy: 5, r: 3.6 }), svg('path', { d: 'M2.2 24V14.5a4.8 4.8 0 0 1 9.6 0V24z' }));
  const all = Array.from({ length: 100 }, (_, at) => person((at % 20) * 15, Math.floor(at / 20) * 28, at < marked));
  const item = (text, filled) => element('li', {}, svg('svg', { 'aria-hidden': 'true', viewBox: '0 0 14 26' }, person(0, 0, filled)), ` ${text}`);
  return element('figure', {}, svg('svg', { class: 'people', role: 'img', 'aria-label': name.replace(/[\u2068\u2069]/g, ''), viewBox: '0 0 300 140' }, ...all),
    element('ul', { class: 'key' }, item(key[0], true), item(key[1], false)));
}

/** A part of the sheet for respondents, as candor explain has it. Names within it are isolated by characters for that. */
function drawn(part) {
  const [[kind, made]] = Object.entries(part);
  const cells = (tag, texts) => texts.map((text) => element(tag, {}, text));
  switch (kind) {
    case 'heading': return element('h3', {}, made);
    case 'paragraph': return element('p', {}, made);
    case 'list': return element('ul', {}, ...cells('li', made));
    case 'picture': return people(made);
    case 'folded': return element('div', {}, ...made.parts.map(drawn));
    case 'table': return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': made.caption }, element('table', {}, element('caption', {}, made.caption),
      element('thead', {}, element('tr', {}, ...made.header.map((text) => element('th', { scope: 'col' }, text)))),
      element('tbody', {}, ...made.rows.map(([first, ...rest]) => element('tr', {}, element('th', { scope: 'row' }, first), ...cells('td', rest))))));
    default: return '';
  }
}

/** What happens to the answers. */
function sheet(plan) {
  const { epsilon, attributes } = plan.guarantee;
  const open = plan.attributes.filter((attribute) => attribute.public).map(({ name }) => quoted(name));
  const about = attributes.map(({ name, conditional_epsilon: e }) => element('li', {}, say(e === null ? 'about_one_unbounded' : 'about_one', { name: quoted(name), times: times(e) })));
  return element('section', { class: 'sheet', 'aria-labelledby': 'sheet' },
    element('h2', { id: 'sheet' }, say('what_happens')),
    element('p', {}, say('chance')),
    element('p', {}, epsilon === null ? say('unbounded') : say('reveals', { times: times(epsilon) })),
    words().sheet ? element('details', {}, element('summary', {}, words().sheet.summary), ...words().sheet.parts.map(drawn))
      : about.length > 1 ? element('details', {}, element('summary', {}, say('by_question')), element('ul', {}, ...about)) : '',
    open.length ? element('p', { class: 'wrong' }, say('public', { names: open.join(', ') })) : '',
    survey.invitations ? element('p', {}, say(survey.tokens ? 'token_promise' : 'invitation_trust')) : '',
    element('p', {}, `${say('not_hidden')} ${say(survey.shared_devices ? 'forget' : 'kept')}`),
    element('p', { class: 'small' }, `${say('rules', { fingerprint: plan.fingerprint })} ${say('script', { hash: survey.page_sha256 })} ${survey.tokens ? say('token_key', survey.tokens) : ''}`));
}

/** The first of two steps: a token for the invitation. What was drawn is kept until the reply is there, so that trying again asks for the same. */
function tokenStep(plan) {
  const status = element('p', { role: 'status' });
  const get = async () => {
    button.disabled = true;
    status.className = '';
    status.textContent = say('sending');
    try {
      const { drawToken, finishToken } = await tokenPart();
      const before = heldToken();
      const drawn = before?.invitation === invitation ? before : { ...drawToken(), invitation };
      localStorage.setItem(tokenPlace, JSON.stringify(drawn));
      const body = JSON.stringify({ invitation, blinded: drawn.blinded });
      const reply = await fetch(`${address}/tokens`, { method: 'POST', headers: { 'content-type': 'application/json' }, body, credentials: 'omit', signal: AbortSignal.timeout(30000) });
      const said = await reply.json();
      if (!reply.ok) throw new CandorError(say('refused', { reason: said.detail }));
      let token;
      try {
        token = finishToken(drawn, said, survey.tokens.key);
      } catch {
        throw new CandorError(say('token_wrong'));
      }
      // The invitation is done: nothing here knows it any more.
      localStorage.setItem(tokenPlace, JSON.stringify(token));
      history.replaceState(null, '', location.pathname);
      return ask();
    } catch (error) {
      status.className = 'wrong';
      status.textContent = error instanceof CandorError ? error.message : say('offline');
      button.disabled = false;
    }
  };
  const button = element('button', { type: 'button', id: 'token', click: get }, say('token_get'));
  return [sheet(plan), element('p', {}, say('token_steps', survey.tokens)), button, status];
}

/** What the survey says in a field of its own: attributes and categories may be named `__proto__` or `constructor`. */
const stated = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);
const wording = (name) => stated(words().questions, name);
const quoted = (name) => `“${wording(name)?.text ?? name}”`;
const label = (name, category) => stated(wording(name)?.answers, category) ?? (category === '' ? say('skip') : category === '(not asked)' ? say('not_asked') : category);

/** The controls of a question, and a function that reads them; nothing on the page is a form, so nothing can be submitted. */
function question({ name, edges, grid, categories, asked_if: condition }, number) {
  const numbers = edges.length ? edges.length + 1 : grid.length;
  const { text, help } = wording(name);
  const wrong = element('p', { class: 'wrong', id: `wrong${number}`, hidden: true, role: 'alert' }, say(numbers ? 'number' : 'choose'));
  const choices = categories.slice(numbers, condition ? -1 : undefined);
  const inputs = choices.map((category) => element('input', { type: 'radio', name: `choice${number}`, autocomplete: 'off' }));
  const box = numbers ? element('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off', 'aria-label': text, 'aria-describedby': `wrong${number}` }) : null;
  box?.addEventListener('input', () => inputs.forEach((input) => { input.checked = false; }));
  const said = () => {
    const at = inputs.findIndex((input) => input.checked);
    return at >= 0 ? choices[at] : box?.value.trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2');
  };
  const read = () => {
    const value = said();
    const inside = Number.isFinite(Number(value)) && !(Number(value) < grid[0] || Number(value) > grid.at(-1));
    const fine = inputs.some((input) => input.checked) || (value !== undefined && value !== '' && inside);
    wrong.hidden = fine;
    if (!fine) (box ?? inputs[0]).focus();
    return fine ? value : undefined;
  };
  const labels = inputs.map((input, i) => element('label', {}, input, label(name, choices[i])));
  const group = element('fieldset', {}, element('legend', {}, text), help ? element('p', { class: 'small' }, help) : '', box ?? '', ...labels, wrong);
  return { name, group, said, read };
}

/** The response by the channels that the token says. */
function answerBy(plan, record, tags) {
  const fresh = (bytes) => crypto.getRandomValues(bytes);
  const truth = codes(plan, record);
  return written(plan, truth, plan.blocks.map((block, at) => drawAnswers(block, tags[at], block.members.map((member) => truth[member]), fresh)));
}

async function ask() {
  let plan;
  try {
    // The page says so where a plan has no finite epsilon.
    plan = await readPlan(planText, { allowUnbounded: true });
  } catch (error) {
    return show(element('h1', {}, words().title), element('p', { class: 'wrong', role: 'alert' }, error instanceof CandorError ? say('changed_plan') : String(error)));
  }
  const key = `candor:${plan.fingerprint}:${scope}`;
  if (!survey.shared_devices && localStorage.getItem(key)) return review(plan, JSON.parse(localStorage.getItem(key)), true);
  const { title, introduction, consent, contact } = words();
  const heading = [languages(), element('h1', {}, title), element('p', {}, introduction), contact ? element('p', { class: 'small' }, `${say('contact')}: ${contact}`) : ''];
  if (survey.tokens) {
    const held = heldToken()?.value;
    if (held && !answering) return show(...heading, element('p', { id: 'held' }, say('token_held', survey.tokens)), sheet(plan));
    if (!held && answering) return show(...heading, element('p', { class: 'wrong', role: 'alert' }, say('token_missing')));
    if (!held && invitation) return show(...heading, ...tokenStep(plan));
  }
  if (survey.invitations && !invitation && !heldToken()?.value) return show(...heading, element('p', { class: 'wrong', role: 'alert' }, say('invitation_needed')));
  if (!survey.tokens) state.id ??= await newId().catch(() => null);
  const order = survey.order.map((name) => plan.attributes.find((attribute) => attribute.name === name));
  const questions = order.map(question);
  // Questions are hidden here and nowhere else: what is sent has the same form whether they were asked or not.
  const shown = (name) => asked(plan, Object.fromEntries(questions.map(({ name: other, said }) => [other, said()])))[plan.attributes.findIndex((attribute) => attribute.name === name)];
  const hide = () => questions.forEach(({ name, group }) => { group.hidden = !shown(name); });
  questions.forEach(({ group }) => group.addEventListener('input', hide));
  hide();
  const tick = consent ? element('input', { type: 'checkbox', autocomplete: 'off' }) : null;
  const missing = element('p', { class: 'wrong', hidden: true, role: 'alert' }, say('consent_needed'));
  const go = async () => {
    if (tick && !tick.checked) {
      missing.hidden = false;
      return tick.focus();
    }
    const record = Object.fromEntries([...questions].reverse().map(({ name, read }) => [name, shown(name) ? read() : '']));
    if (Object.values(record).includes(undefined)) return undefined;
    const tags = survey.tokens ? await (await tokenPart()).tokenTags(plan, heldToken().value, drawTag) : null;
    const made = once(key, () => ({ ...(!tags && { id: state.id }), response: tags ? answerBy(plan, record, tags) : answer(plan, record) }));
    state.id = null;
    return review(plan, made, false);
  };
  return show(...heading, sheet(plan), element('h2', {}, say('questions')), ...questions.map(({ group }) => group),
    tick ? element('label', {}, tick, consent) : '', missing, element('button', { type: 'button', id: 'next', click: go }, say('next')));
}

/** What chance made of the answers: exactly what is sent. The controls with the true answers are gone. */
function review(plan, made, again) {
  const shown = (name, value) => {
    if (value === null) return say('none');
    return Array.isArray(value) ? value.map((item) => (name ? label(name, item) : item)).join('; ') : name ? label(name, value) : String(value);
  };
  const rows = plan.columns.map(({ name, candor_tag: tag, candor_cells: cells }) => {
    const own = wording(name);
    const title = tag ? say('lottery') : cells ? say('cells') : own?.text ?? name;
    return element('tr', {}, element('th', { scope: 'row' }, title), element('td', {}, shown(own ? name : null, made.response[name])));
  });
  const status = element('p', { role: 'status' });
  const button = element('button', { type: 'button', id: 'send', click: () => send(plan, made, button, status) }, say('send'));
  const head = element('tr', {}, element('th', { scope: 'col' }, say('question')), element('th', { scope: 'col' }, say('sent')));
  const heading = element('h1', { tabindex: '-1' }, say('review'));
  show(heading, element('p', {}, say(again ? 'review_again' : 'review_text')), element('div', { class: 'scroll' }, element('table', { id: 'response' }, head, ...rows)),
    element('p', { class: 'small' }, `${say('rules', { fingerprint: plan.fingerprint })} ${survey.tokens ? '' : made.id ? say('number_before', { id: made.id }) : say('number_later')}`), button, status);
  heading.focus();
  window.scrollTo(0, 0);
}

async function send(plan, made, button, status) {
  button.disabled = true;
  status.className = '';
  status.textContent = say('sending');
  const held = heldToken();
  if (!held && !made.id) {
    // There was no connection when the page was opened: the number is drawn now, and kept before anything is sent.
    made.id = await newId().catch(() => null);
    const key = `candor:${plan.fingerprint}:${scope}`;
    if (made.id && !survey.shared_devices) localStorage.setItem(key, JSON.stringify(made));
  }
  const body = JSON.stringify(held ? { id: held.token, token: held.value, response: made.response } : { id: made.id, ...(invitation && { invitation }), response: made.response });
  const failed = (text) => {
    status.className = 'wrong';
    status.textContent = text;
    button.disabled = false;
    button.textContent = say('retry');
  };
  if (!held && !made.id) return failed(say('offline'));
  try {
    const reply = await fetch(`${address}/responses`, { method: 'POST', headers: { 'content-type': 'application/json' }, body, credentials: 'omit', signal: AbortSignal.timeout(30000) });
    if (!reply.ok) return failed(say('refused', { reason: (await reply.json().catch(() => ({}))).detail ?? reply.status }));
    const heading = element('h1', { tabindex: '-1' }, say(reply.status === 200 ? 'done_before' : 'done'));
    show(heading, element('p', {}, say(survey.shared_devices ? 'forget' : 'kept')));
    return heading.focus();
  } catch {
    return failed(say('offline'));
  }
}

await ask();
