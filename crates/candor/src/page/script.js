// Sorts rows and switches tables of two attributes between row percent, shares of everybody and people. Nothing here is needed to read.
(() => {
  const { sort, rows, shares, counts, thousands, decimal } = document.currentScript.dataset;
  const say = (number, digits) => {
    const [whole, part] = Math.abs(number).toFixed(digits).split('.');
    const sign = number < 0 && Number(number.toFixed(digits)) !== 0 ? '-' : '';
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, thousands) + (part ? decimal + part : '');
  };
  const value = (cell) => {
    const text = (cell?.textContent ?? '').trim();
    const number = parseFloat(text.replaceAll(thousands, '').replace(decimal, '.').replace(/^[<+(]\s*/, ''));
    return Number.isFinite(number) ? number : text;
  };
  const before = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));
  const button = (label, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.append(label);
    made.addEventListener('click', () => act(made));
    return made;
  };
  const sortBy = (table, head) => {
    const down = head.getAttribute('aria-sort') !== 'descending';
    for (const other of table.querySelectorAll('[aria-sort]')) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const lines = [...body.rows].filter((row) => !row.classList.contains('total'));
    lines.sort((a, b) => (down ? -1 : 1) * before(value(a.cells[head.cellIndex]), value(b.cells[head.cellIndex])));
    body.prepend(...lines);
  };
  for (const table of document.querySelectorAll('table:not(.matrix)')) {
    for (const head of table.querySelectorAll('thead th')) {
      const made = button('', () => sortBy(table, head));
      made.title = sort.replace('{column}', head.textContent);
      made.className = 'sort';
      made.append(...head.childNodes);
      head.append(made);
    }
  }
  const show = (table, way) => {
    [...table.caption.children].forEach((one, at) => { one.hidden = at !== ['rows', 'shares', 'counts'].indexOf(way); });
    for (const cell of table.querySelectorAll('td[data-e]')) {
      cell.first ??= [cell.innerHTML, cell.className];
      [cell.innerHTML, cell.className] = cell.first;
      const whole = cell.classList.contains('total');
      if (way === 'rows' || (whole && way === 'shares')) continue;
      const grade = cell.dataset.e.split(' ')[3];
      const [share, low, high] = cell.dataset.e.split(' ').slice(0, 3).map(Number);
      const [times, digits] = way === 'counts' ? [Number(table.dataset.people), 0] : [100, 1];
      const exact = low === high;
      const text = { hidden: ['–', ''], under: [`≤${say(Math.ceil(times * high), 0)}`, ''] }[grade]
        ?? [say(times * share, digits), exact ? '' : `±${say(times * (high - low) / 2, digits)}`];
      if (whole) { cell.textContent = text.join(' '); continue; }
      const bold = cell.querySelector('b');
      bold.textContent = text[0];
      bold.nextSibling.data = ` ${text[1]}`;
      cell.className = grade === 'shown' ? '' : grade;
    }
  };
  for (const table of document.querySelectorAll('table.cross')) {
    const group = document.createElement('div');
    group.className = 'switch';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', table.caption.firstElementChild.textContent);
    for (const [way, label] of [['rows', rows], ['shares', shares], ['counts', counts]]) {
      const made = button(label, () => {
        for (const other of group.children) other.setAttribute('aria-pressed', other === made);
        show(table, way);
      });
      made.setAttribute('aria-pressed', way === 'rows');
      group.append(made);
    }
    table.closest('.scroll').before(group);
  }
})();
