// Lists whose order is changed by dragging or by the keyboard.

import { fill, h } from './dom.js';
import { t } from './words.js';

/**
 * A list to be put in order: by dragging, or with the buttons of each row (arrow keys work on them, too).
 * @param {string} id
 * @param {string[]} items
 * @param {(item: string) => import('./dom.js').Leaf[]} show
 * @param {(items: string[]) => unknown} save
 * @param {boolean} fixed whether the order cannot be changed
 */
export function ordered(id, items, show, save, fixed) {
  const list = h('ol', { class: 'ordered', id });
  /** @type {number | null} */
  let dragged = null;
  const move = (/** @type {number} */ from, /** @type {number} */ to) => {
    if (to < 0 || to >= items.length || from === to) return;
    const next = [...items];
    next.splice(to, 0, ...next.splice(from, 1));
    void save(next);
  };
  const row = (/** @type {string} */ item, /** @type {number} */ at) => {
    const name = item === '' ? t('column.no_answer') : item;
    const arrow = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ label) =>
      h('button', { type: 'button', class: 'arrow', id: `${id}-${by < 0 ? 'up' : 'down'}-${at}`, 'aria-label': `${label}: ${name}`,
        disabled: at + by < 0 || at + by >= items.length,
        onclick: () => {
          move(at, at + by);
          // The focus stays with the answer that was moved.
          setTimeout(() => document.getElementById(`${id}-${by < 0 ? 'up' : 'down'}-${at + by}`)?.focus(), 0);
        } }, sign);
    return h('li', {
      draggable: fixed ? 'false' : 'true',
      ondragstart: () => { dragged = at; },
      ondragover: (/** @type {Event} */ event) => event.preventDefault(),
      ondrop: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (dragged !== null) move(dragged, at);
      },
    }, !fixed && h('span', { class: 'handle', 'aria-hidden': 'true' }, '⠿'), ...show(item),
    !fixed && h('span', { class: 'arrows' }, arrow(-1, '↑', t('column.up')), arrow(1, '↓', t('column.down'))));
  };
  fill(list, items.map(row));
  return list;
}
