// The fields of the two documents of a pair, and which of them differ.
import { attempt, el, get } from './page.js';

/** Maximum number of characters of a value that are shown. */
const SHOWN = 500;

/** Returns a part of a page that shows the fields when it is opened. `sides` are their names in the answer. */
export function fieldsOf(pair, sides, titles) {
  const box = el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Fields' });
  const details = el('details', {}, el('summary', {}, 'Fields ', el('kbd', {}, 'f')), box);
  const short = (value) => (value.length > SHOWN ? `${value.slice(0, SHOWN)} …` : value);
  async function load() {
    const found = await get('fields', { pair });
    const values = sides.map((side) => new Map(found[side]));
    const names = [...new Set(values.flatMap((side) => [...side.keys()]))];
    if (!names.length) {
      box.replaceChildren(el('p', { class: 'quiet' }, 'The documents have no other fields than their text.'));
      return;
    }
    const cell = (value, isDifferent) => el('td', {}, value === undefined ? el('span', { class: 'quiet' }, 'none')
      : el(isDifferent ? 'strong' : 'span', {}, short(value)));
    const row = (name) => {
      const pair_ = values.map((side) => side.get(name));
      const isDifferent = pair_[0] !== pair_[1];
      return el('tr', {}, el('th', { scope: 'row' }, name), pair_.map((value) => cell(value, isDifferent)),
        el('td', {}, isDifferent ? 'differs' : el('span', { class: 'quiet' }, 'same')));
    };
    box.replaceChildren(el('table', {}, el('thead', {}, el('tr', {}, ['Field', ...titles, 'Compared'].map((title) => el('th', { scope: 'col' }, title)))),
      el('tbody', {}, names.map(row))));
  }
  details.addEventListener('toggle', () => { if (details.open && !box.hasChildNodes()) attempt(load); });
  details.toggle = () => { details.open = !details.open; };
  return details;
}
