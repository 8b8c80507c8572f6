// The survey page. True answers live in the controls and in one variable until chance has worked on them; only the response is sent.
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

/** An element of a picture. */
function drawing(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
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
const LANGUAGE = 'candor:language';
const known = [sessionStorage.getItem(LANGUAGE), ...[...navigator.languages].map((code) => code.split('-')[0])].find((code) => survey.languages.includes(code));
/** The language, the number that the response will be sent under, and the true answers as typed: they are gone once chance has drawn. */
const state = { language: known ?? survey.languages[0], id: null, given: new Map(), consents: false };
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

/** What was drawn is kept, and never drawn again; not on a device that several people share. */
const keep = (key, made) => survey.shared_devices || localStorage.setItem(key, JSON.stringify(made));
function once(key, make) {
  const before = survey.shared_devices ? null : localStorage.getItem(key);
  if (before) return JSON.parse(before);
  const made = make();
  keep(key, made);
  return made;
}

/** Puts a step on the page; its heading is what is read next. */
function show(focus, ...children) {
  document.documentElement.lang = state.language;
  document.title = words().title;
  page.replaceChildren(...children);
  if (!focus) return;
  page.querySelector('h1').focus();
  window.scrollTo(0, 0);
}
const heading = (text, attributes = {}) => element('h1', { tabindex: '-1', ...attributes }, text);
const step = (n) => element('p', { class: 'small' }, say('step', { n }));
const button = (id, text, click, kind = 'primary') => element('button', { type: 'button', id, class: kind, click }, text);
const folded = (summary, ...parts) => element('details', {}, element('summary', {}, summary), ...parts);

function languages() {
  if (survey.languages.length < 2) return '';
  const options = survey.languages.map((code) => element('option', { value: code, lang: code, selected: code === state.language }, survey.words[code].texts.language));
  const change = ({ target }) => {
    state.language = target.value;
    sessionStorage.setItem(LANGUAGE, state.language);
    ask().then(() => document.querySelector('select')?.focus());
  };
  return element('select', { class: 'languages', 'aria-label': say('language_choice'), autocomplete: 'off', change }, ...options);
}

/** A hundred dots, some of them filled. */
const dots = (marked) => drawing('svg', { class: 'dots', 'aria-hidden': 'true', viewBox: '0 0 300 72' },
  ...Array.from({ length: 100 }, (_, at) => drawing('circle', { cx: 8 + (at % 20) * 15, cy: 7 + Math.floor(at / 20) * 14.5, r: 5, class: at < marked ? 'yes' : 'no' })));

/** A picture of a hundred people, some of them filled. */
function people({ marked, name, key }) {
  const item = (text, filled) => element('li', {}, drawing('svg', { 'aria-hidden': 'true', viewBox: '0 0 12 12' }, drawing('circle', { cx: 6, cy: 6, r: 5, class: filled ? 'yes' : 'no' })), ` ${text}`);
  return element('figure', {}, element('div', { role: 'img', 'aria-label': name.replace(/[\u2068\u2069]/g, '') }, dots(marked)),
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

/** The promise in a sentence and a picture: its one number is about the question that is protected least. What stands behind it is folded. */
function sheet(plan) {
  const { epsilon, attributes } = plan.guarantee;
  const { picture } = survey;
  const about = attributes.map(({ name, conditional_epsilon: e }) => element('li', {}, say(e === null ? 'about_one_unbounded' : 'about_one', { name: quoted(name), times: times(e) })));
  const shown = picture ? say(picture.kind, { ...picture, question: quoted(picture.name), rest: 100 - picture.n }) : '';
  const { introduction, contact } = words();
  const rules = folded(say('check_rules'), element('p', {}, say('chance')), element('p', {}, epsilon === null ? say('unbounded') : say('reveals', { times: times(epsilon) })),
    survey.invitations ? element('p', {}, say(survey.tokens ? 'token_promise' : 'invitation_trust')) : '',
    element('p', {}, `${say('not_hidden')} ${say(survey.shared_devices ? 'forget' : 'kept')}`),
    element('p', { class: 'small' }, `${say('rules', { fingerprint: plan.fingerprint })} ${say('script', { hash: survey.page_sha256 })} ${survey.tokens ? say('token_key', survey.tokens) : ''}`));
  return element('section', { class: 'sheet', 'aria-label': say('what_happens') },
    element('p', { class: 'promise' }, element('strong', {}, say('promise')), ` ${epsilon === null ? say('unbounded') : say('promise_more')}${plan.attributes.some(({ public: open }) => open) ? ` ${say('promise_but')}` : ''}`),
    picture ? element('figure', {}, dots(picture.n), element('figcaption', {}, shown)) : '',
    element('details', { class: 'about' }, element('summary', {}, say('about')), element('p', {}, introduction), contact ? element('p', {}, `${say('contact')}: ${contact}`) : ''),
    words().sheet ? folded(words().sheet.summary, ...words().sheet.parts.map(drawn), rules) : about.length ? folded(say('by_question'), element('ul', {}, ...about), rules) : rules);
}

/** The first of two steps: a token for the invitation. What was drawn is kept until the reply is there, so that trying again asks for the same. */
function tokenStep(plan) {
  const status = element('p', { role: 'status' });
  const get = async () => {
    press.disabled = true;
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
      press.disabled = false;
    }
  };
  const press = button('token', say('token_get'), get);
  return element('div', { class: 'questions' }, element('p', {}, say('token_promise')), element('p', {}, say('token_steps', survey.tokens)), press, status);
}

/** What the survey says in a field of its own: attributes and categories may be named `__proto__` or `constructor`. */
const stated = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);
const wording = (name) => stated(words().questions, name);
const quoted = (name) => say('quoted', { text: wording(name)?.text ?? name });
const label = (name, category) => stated(wording(name)?.answers, category) ?? (category === '' ? say('skip') : category === '(not asked)' ? say('not_asked') : category);

/** The sign of chance, or of an eye, and what it means. */
function mark(open, text, tag = 'p') {
  const lines = open ? ['M1 8s2.6-4.6 7-4.6S15 8 15 8s-2.6 4.6-7 4.6S1 8 1 8z', 'M8 6.2a1.8 1.8 0 1 0 .01 0z'] : ['M2.5 2.5h11v11h-11z', 'M5.5 5.5h.01M8 8h.01M10.5 10.5h.01'];
  return element(tag, { class: open ? 'mark open' : 'mark' }, drawing('svg', { 'aria-hidden': 'true', viewBox: '0 0 16 16' }, ...lines.map((d) => drawing('path', { d }))), text);
}

/**
 * The controls of a question, a function that reads them, and one that says what is wrong; nothing on the page is a form, so nothing can be
 * submitted.
 */
function question({ name, edges, grid, categories, asked_if: condition, public: open }, number) {
  const numbers = edges.length ? edges.length + 1 : grid.length;
  const { text, help } = wording(name);
  const [least, most] = grid.length ? [grid[0], grid.at(-1)] : stated(survey.ranges, name) ?? [-Infinity, Infinity];
  const choices = categories.slice(numbers, condition ? -1 : undefined);
  const skip = choices.includes('') ? { skip: label(name, '') } : null;
  const asks = numbers ? (Number.isFinite(least) ? 'number_between' : 'number') : 'choose';
  const request = say(skip ? `${asks}_or_skip` : asks, { ...skip, least, most });
  const [wrongId, helpId] = [`wrong${number}`, `help${number}`];
  const wrong = element('p', { class: 'wrong', id: wrongId, hidden: true });
  const describedBy = help ? `${helpId} ${wrongId}` : wrongId;
  const inputs = choices.map((category) => element('input', { type: 'radio', id: `choice${number}-${choices.indexOf(category)}`, name: `choice${number}`, autocomplete: 'off' }));
  const box = numbers ? element('input', { type: 'text', id: `choice${number}`, inputmode: 'decimal', autocomplete: 'off', 'aria-label': text, 'aria-describedby': describedBy }) : null;
  const before = state.given.get(name);
  if (box && !choices.includes(before)) box.value = before ?? '';
  inputs.forEach((input, at) => { input.checked = choices[at] === before; });
  box?.addEventListener('input', () => inputs.forEach((input) => { input.checked = false; }));
  const said = () => {
    const at = inputs.findIndex((input) => input.checked);
    return at >= 0 ? choices[at] : box?.value.trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2');
  };
  const isFine = () => {
    const value = said();
    if (inputs.some((input) => input.checked)) return true;
    return value !== undefined && value !== '' && Number.isFinite(Number(value)) && Number(value) >= least && Number(value) <= most;
  };
  const mend = () => {
    wrong.hidden = true;
    wrong.textContent = '';
    group.classList.remove('bad');
    [box, ...inputs].forEach((input) => input?.removeAttribute('aria-invalid'));
  };
  /** Whether the answer is fine; if not, what is wrong stands at the question until it is mended. */
  const check = () => {
    mend();
    if (isFine()) return true;
    wrong.textContent = request;
    wrong.hidden = false;
    group.classList.add('bad');
    (box ?? inputs[0]).setAttribute('aria-invalid', 'true');
    return false;
  };
  const labels = inputs.map((input, i) => element('label', { class: 'option' }, input, element('span', {}, label(name, choices[i]))));
  if (box && inputs.length) inputs.forEach((input) => input.addEventListener('input', () => { box.value = ''; }));
  const group = element('fieldset', { 'aria-describedby': describedBy }, element('legend', {}, `${number + 1}. ${text}`), mark(open, say(open ? 'open' : 'changed')), help ? element('p', { class: 'small', id: helpId }, help) : '', wrong, box ?? '', ...labels);
  group.addEventListener('input', () => {
    state.given.set(name, said());
    if (!wrong.hidden && isFine()) mend();
  });
  const link = () => element('li', {}, element('a', { href: `#${(box ?? inputs[0]).id}`, click: (event) => { event.preventDefault(); (box ?? inputs[0]).focus(); } }, `${text} ${request}`));
  return { name, group, said, check, isFine, link, text };
}

/** The response by the channels that the token says. */
function answerBy(plan, record, tags) {
  const fresh = (bytes) => crypto.getRandomValues(bytes);
  const truth = codes(plan, record);
  return written(plan, truth, plan.blocks.map((block, at) => drawAnswers(block, tags[at], block.members.map((member) => truth[member]), fresh)));
}

/** What comes first: the plan is read and checked, and what was drawn before is shown, or that it was sent. */
async function ask(toQuestion) {
  let plan;
  try {
    // The page says so where a plan has no finite epsilon.
    plan = await readPlan(planText, { allowUnbounded: true });
  } catch (error) {
    return show(false, heading(words().title), element('p', { class: 'wrong', role: 'alert' }, error instanceof CandorError ? say('changed_plan') : String(error)));
  }
  const key = `candor:${plan.fingerprint}:${scope}`;
  const before = survey.shared_devices ? null : JSON.parse(localStorage.getItem(key));
  if (before?.sent) return sentBefore(plan, before);
  if (before) return result(plan, key, before, true);
  const top = element('div', { class: 'top' }, element('p', { class: 'small' }, `${say('questions')}: ${plan.attributes.length}`), languages());
  const frame = (...inside) => show(toQuestion === undefined ? false : toQuestion === null, top, heading(words().title), element('div', { class: 'columns' }, sheet(plan), ...inside));
  const note = (text, attributes) => element('div', { class: 'questions' }, element('p', attributes, text));
  if (survey.tokens) {
    const held = heldToken()?.value;
    if (held && !answering) return frame(note(say('token_held', survey.tokens), { id: 'held' }));
    if (!held && answering) return frame(note(say('token_missing'), { class: 'wrong', role: 'alert' }));
    if (!held && invitation) return frame(tokenStep(plan));
  }
  if (survey.invitations && !invitation && !heldToken()?.value) return frame(note(say('invitation_needed'), { class: 'wrong', role: 'alert' }));
  if (!survey.tokens) state.id ??= await newId().catch(() => null);
  return questions(plan, key, frame, toQuestion);
}

/** The questions. Nothing is drawn and nothing is sent here. */
function questions(plan, key, frame, toQuestion) {
  const order = survey.order.map((name) => plan.attributes.find((attribute) => attribute.name === name));
  const all = order.map(question);
  // Questions are hidden here and nowhere else: what is sent has the same form whether they were asked or not.
  const shown = (name) => asked(plan, Object.fromEntries(all.map(({ name: other, said }) => [other, said()])))[plan.attributes.findIndex((attribute) => attribute.name === name)];
  const hide = () => all.forEach(({ name, group }) => { group.hidden = !shown(name); });
  all.forEach(({ group }) => group.addEventListener('input', hide));
  hide();
  const { consent } = words();
  const tick = consent ? element('input', { type: 'checkbox', id: 'consent', autocomplete: 'off', 'aria-describedby': 'unticked' }) : null;
  if (tick) tick.checked = state.consents;
  const unticked = element('p', { class: 'wrong', id: 'unticked', hidden: true }, say('consent_needed'));
  tick?.addEventListener('input', () => {
    state.consents = tick.checked;
    unticked.hidden = tick.checked || unticked.hidden;
  });
  const summary = element('div', { class: 'summary', role: 'alert', tabindex: '-1', hidden: true });
  const mended = () => {
    if (!summary.hidden && asks().every(({ isFine }) => isFine()) && (!tick || tick.checked)) summary.hidden = true;
  };
  const asks = () => all.filter(({ name }) => shown(name));
  const area = element('div', { class: 'questions', input: mended }, summary, ...all.map(({ group }) => group),
    tick ? element('label', { class: 'consent' }, tick, element('span', {}, consent)) : '', unticked);
  const go = () => {
    const wrong = asks().filter(({ check }) => !check());
    unticked.hidden = !tick || tick.checked;
    if (wrong.length || !unticked.hidden) {
      const consentLink = element('li', {}, element('a', { href: '#consent', click: (event) => { event.preventDefault(); tick.focus(); } }, say('consent_needed')));
      summary.replaceChildren(element('h2', {}, say('need_a_look')), element('ul', {}, ...wrong.map(({ link }) => link()), ...(unticked.hidden ? [] : [consentLink])));
      summary.hidden = false;
      summary.focus();
      return undefined;
    }
    const record = Object.fromEntries(all.map(({ name, said }) => [name, shown(name) ? said() : '']));
    return review(plan, key, record, asks());
  };
  area.append(element('div', { class: 'go' }, button('next', say('next'), go), element('span', { class: 'small' }, say('nothing_sent'))));
  frame(area);
  if (toQuestion) area.querySelector(`#${CSS.escape(toQuestion)}`)?.focus();
}

/** The answers once more: all of them can be changed, until chance draws. */
function review(plan, key, record, asks) {
  const row = ({ name, text, group }) => {
    const change = element('button', { type: 'button', class: 'quiet', 'aria-label': `${say('change')}: ${text}`, click: () => ask((group.querySelector('input:checked') ?? group.querySelector('input')).id) }, say('change'));
    const value = record[name];
    return element('li', {}, element('span', {}, element('span', { class: 'small' }, text), element('strong', {}, label(name, value))), change);
  };
  const draw = async () => {
    press.disabled = true;
    const tags = survey.tokens ? await (await tokenPart()).tokenTags(plan, heldToken().value, drawTag) : null;
    const made = once(key, () => ({ ...(!tags && { id: state.id }), response: tags ? answerBy(plan, record, tags) : answer(plan, record) }));
    // The true answers are gone: nothing below knows them.
    state.id = null;
    state.given.clear();
    state.consents = false;
    Object.keys(record).forEach((name) => delete record[name]);
    return result(plan, key, made, false);
  };
  const press = button('draw', say('draw'), draw);
  show(true, step(2), heading(say('check_title')), element('ul', { class: 'answers', id: 'given' }, ...asks.map(row)),
    element('section', { class: 'warning' }, element('h2', {}, say('once_title')), element('p', {}, say('once'))),
    element('div', { class: 'go' }, press, button('back', say('back'), () => ask(null), 'quiet'), element('span', { class: 'small' }, say('nothing_sent'))));
}

/** What is sent, column by column, in the order of the questions. */
function sentList(plan, made) {
  const place = ({ name }) => (survey.order.includes(name) ? survey.order.indexOf(name) : survey.order.length);
  const shown = (name, value) => {
    if (value === null) return say('none');
    return Array.isArray(value) ? value.map((item) => (name ? label(name, item) : item.replaceAll('*', ', '))).join('; ') : name ? label(name, value) : String(value);
  };
  const row = ({ name, candor_tag: tag, candor_cells: cells }) => {
    const own = wording(name);
    const open = plan.attributes.find((attribute) => attribute.name === name)?.public;
    const text = tag ? say('lottery') : cells ? say('cells') : own?.text ?? name;
    return element('li', {}, element('span', {}, element('span', { class: 'small' }, text), element('strong', {}, shown(own ? name : null, made.response[name])),
      tag || made.response[name] === null ? '' : mark(open, say(open ? 'exactly' : 'perhaps'), 'span')));
  };
  return element('ul', { class: 'answers', id: 'response' }, ...[...plan.columns].sort((a, b) => place(a) - place(b)).map(row));
}

const numberOf = (made) => (survey.tokens ? '' : made.id ? say('number_before', { id: made.id }) : say('number_later'));

/** What chance made of the answers: exactly what is sent. The true answers are gone. */
function result(plan, key, made, again) {
  const status = element('p', { role: 'status' });
  const press = button('send', say('send'), () => send(plan, key, made, press, status));
  const stop = button('stop', say('stop'), () => show(true, heading(say('stopped_title')), element('p', {}, say(survey.shared_devices ? 'stopped_forgotten' : 'stopped'))), 'quiet');
  show(true, step(3), heading(say('review')), element('p', {}, say(again ? 'review_again' : 'review_text')), sentList(plan, made),
    element('p', { class: 'small' }, say('forgotten')), element('div', { class: 'go' }, press, stop), status,
    folded(say('check_rules'), element('p', { class: 'small' }, `${say('rules', { fingerprint: plan.fingerprint })} ${numberOf(made)}`)));
}

/** For a browser that has sent: there is nothing more to send. */
function sentBefore(plan, made) {
  show(true, heading(say('already_title')), element('p', {}, say('already')), folded(say('was_sent'), sentList(plan, made)));
}

async function send(plan, key, made, press, status) {
  press.disabled = true;
  status.className = '';
  status.textContent = say('sending');
  const held = heldToken();
  if (!held && !made.id) {
    // There was no connection when the page was opened: the number is drawn now, and kept before anything is sent.
    made.id = await newId().catch(() => null);
    if (made.id) keep(key, made);
  }
  const body = JSON.stringify(held ? { id: held.token, token: held.value, response: made.response } : { id: made.id, ...(invitation && { invitation }), response: made.response });
  const failed = (text) => {
    status.className = 'wrong';
    status.textContent = text;
    press.disabled = false;
    press.textContent = say('retry');
  };
  if (!held && !made.id) return failed(say('offline'));
  let reply;
  try {
    reply = await fetch(`${address}/responses`, { method: 'POST', headers: { 'content-type': 'application/json' }, body, credentials: 'omit', signal: AbortSignal.timeout(30000) });
  } catch {
    return failed(say('offline'));
  }
  if (!reply.ok) {
    const problem = await reply.json().catch(() => ({}));
    // The survey does not know its number any more, so that nothing was stored under it: another one is asked for.
    if (problem.type === 'urn:candor:problem:unknown-id') made.id = null;
    return failed(say('refused', { reason: problem.detail ?? reply.status }));
  }
  keep(key, { ...made, sent: true });
  return show(true, heading(say('done')), element('p', {}, say(reply.status === 200 ? 'done_before' : 'done_text')),
    element('h2', {}, say('what_now')), element('p', {}, say('what_now_text')),
    element('h2', {}, say('only_once')), element('p', {}, `${say('not_hidden')} ${say(survey.shared_devices ? 'forget' : 'kept')}`),
    words().contact ? element('p', {}, `${say('contact')}: ${words().contact}`) : '', folded(say('was_sent'), sentList(plan, made)));
}

await ask();
