// A passage or an evaluation item in a document: the text around it, and the other text with the same words.
import { closeness, counted, el, get, kind, nameOf, names, number } from './page.js';
import { cells, placeInList } from './list.js';
import { fieldsOf } from './fields.js';

/** Returns the text of a document with the found words marked. `null` if it was not read. */
function textOf(document_, label) {
  if (!document_.pieces) return null;
  const text = el('div', { class: 'text', tabindex: '0', role: 'region', 'aria-label': label });
  for (const [type, value] of document_.pieces) {
    if (type === 'gap') text.append(el('span', { class: 'gap' }, ` ⋯ ${counted(value, 'byte')} ⋯ `));
    else text.append(el(type === 'found' ? 'mark' : 'span', {}, value));
  }
  return text;
}

/** Scrolls a text to its first mark. */
function showMark(text) {
  const mark = text?.querySelector('mark');
  if (mark) text.scrollTop = mark.offsetTop - text.offsetTop - text.clientHeight / 3;
}

export async function showFound({ content, argument, parameters, setKeys, signal }) {
  const { step, links } = placeInList(parameters);
  const pair = await get('pair', { pair: argument });
  if (signal.aborted) return;
  const fact = kind === 'passages'
    ? `A passage of ${counted(pair.lost_words, 'word')} that ${counted(pair.distance, 'document')} have.`
    : `The document has ${counted(pair.lost_words, 'word')} of the item, a share of ${closeness(pair)}.`;
  const side = (title, document_) => {
    const text = textOf(document_, `Text: ${title}`);
    return [text, el('section', { class: 'side' }, el('h2', {}, title), nameOf(document_), text)];
  };
  const [left, leftSide] = side(names.sides[0], pair.removed);
  const [right, rightSide] = side(names.sides[1], pair.kept);
  const fields = fieldsOf(argument, ['removed', 'kept'], names.sides);
  content.append(el('div', { class: 'tools' }, links), el('p', { class: 'lead' }, fact));
  for (const change of pair.changes ?? []) content.append(el('p', { class: 'warning' }, change));
  if (pair.not_read) content.append(el('p', { class: 'warning' }, `The texts cannot be shown: ${pair.not_read}`));
  content.append(el('div', { class: 'sides' }, leftSide, rightSide), fields);
  [left, right].forEach(showMark);
  const rest = (pair.others?.rows ?? []).filter((row) => row.pair !== pair.pair);
  if (rest.length) {
    content.append(el('h2', {}, `${kind === 'passages' ? 'Other passages of the document' : 'Other documents with the item'} (${number(pair.others.count - 1)})`),
      el('ul', { class: 'plain' }, rest.map((row) => el('li', { class: 'row' }, el('a', { href: `#/pair/${row.pair}` }, cells(row))))));
  }
  setKeys({ ArrowLeft: () => step(-1), ArrowRight: () => step(1), f: () => fields.toggle() });
}
