// Elements of the page, made in one line each. Text is always text: nothing is read as HTML.

/** @typedef {Node | string | number | null | undefined | false} Leaf */
/** @typedef {Leaf | Leaf[] | (Leaf | Leaf[])[] | (Leaf | Leaf[] | (Leaf | Leaf[])[])[]} Child */
/** @typedef {Record<string, unknown>} Properties */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Sets properties: `on...` are listeners, `class`, `data-..`, `aria-..` and the like attributes, `style` an object.
 * @param {Element} element
 * @param {Properties} properties
 */
function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === 'style') {
      const { style } = /** @type {HTMLElement} */ (element);
      for (const [key, text] of Object.entries(/** @type {Record<string, string>} */ (value))) style.setProperty(key, text);
    } else if (name === 'value') {
      if (isText(element)) element.defaultValue = String(value);
      else /** @type {HTMLInputElement} */ (element).value = String(value);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function add(element, children) {
  for (const child of /** @type {Leaf[]} */ (children.flat(3))) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An element with properties and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  add(element, children);
  // A select takes its value once it has its options.
  set(element, properties);
  return element;
}

/**
 * The same of a drawing.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(name, properties = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  set(element, properties);
  add(element, children);
  return /** @type {SVGElementTagNameMap[K]} */ (element);
}

/**
 * The element with an id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element;
}

/**
 * Whether text is written in an element.
 * @param {unknown} element
 * @returns {element is HTMLInputElement | HTMLTextAreaElement}
 */
export const isText = (element) => (element instanceof HTMLInputElement && element.type === 'text') || element instanceof HTMLTextAreaElement;

/**
 * Replaces what is in an element. The focus stays where it was, with what is being typed there, if there is still such an element; what is
 * folded out stays so.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const focused = document.activeElement;
  const id = focused && element.contains(focused) ? focused.id : '';
  const typed = isText(focused) && focused.value !== focused.defaultValue ? focused.value : null;
  const [start, end] = isText(focused) ? [focused.selectionStart, focused.selectionEnd] : [null, null];
  const unfolded = [...element.querySelectorAll('details[open][id]')].map((one) => one.id);
  element.replaceChildren();
  add(element, children);
  for (const one of unfolded) document.getElementById(one)?.setAttribute('open', '');
  const again = id && document.getElementById(id);
  if (!again) return;
  if (isText(again) && typed !== null) again.value = typed;
  again.focus({ preventScroll: true });
  if (isText(again) && start !== null) again.setSelectionRange(start, end);
}

let last = 0;

/** A fresh id. */
export const fresh = () => `e${(last += 1)}`;
