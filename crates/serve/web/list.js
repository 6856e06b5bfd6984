// Lists of any length: only the visible rows exist, and rows are asked for in pages.
import { button, closeness, counted, decisionText, el, get, kind, labelText, nameOf, names, number, query, say, waitFor } from './page.js';

/** Height of a row in pixels, as in style.css. */
const ROW = 64;
/** Number of rows that are asked for at once. */
const PAGE = 100;
/** Height that a browser can scroll. Longer lists move by rows, and their scroll bar is in proportion. */
const TALLEST = 8_000_000;

/** Shows rows that `load(from, most)` returns. `build(row, at)` makes a row's link. Returns keys for the list. */
function scroller(content, load, build, onCount) {
  const box = el('div', { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'Rows' });
  const spacer = el('div', { class: 'spacer' });
  const list = el('div', { class: 'window', role: 'list' });
  box.append(spacer, list);
  content.append(box);
  const pages = new Map();
  let [count, first, chosen] = [0, 0, 0];
  const visible = () => Math.ceil(box.clientHeight / ROW) + 1;
  const height = () => Math.min(count * ROW, TALLEST);
  const isScaled = () => count * ROW > TALLEST;
  const last = () => Math.max(0, count - Math.floor(box.clientHeight / ROW));

  async function page(at) {
    if (!pages.has(at)) {
      if (pages.size > 50) pages.delete(pages.keys().next().value);
      pages.set(at, load(at * PAGE, PAGE));
    }
    return pages.get(at);
  }
  function rowAt(at, row) {
    const item = el('div', { role: 'listitem', class: at === chosen ? 'row chosen' : 'row', 'aria-setsize': count, 'aria-posinset': at + 1 },
      row ? build(row, at) : el('span', { class: 'quiet' }, '…'));
    item.dataset.at = at;
    return item;
  }
  let drawn = 0;
  async function draw() {
    drawn += 1;
    const turn = drawn;
    const start = Math.floor(first);
    const end = Math.min(count, start + visible());
    list.style.transform = `translateY(${-(first - start) * ROW}px)`;
    const needed = [];
    for (let at = Math.floor(start / PAGE); at * PAGE < end; at += 1) needed.push(at);
    const loaded = new Map();
    await Promise.all(needed.map(async (at) => loaded.set(at, (await page(at)).rows)));
    if (turn !== drawn) return;
    const hadFocus = list.contains(document.activeElement);
    const rows = [];
    for (let at = start; at < end; at += 1) rows.push(rowAt(at, loaded.get(Math.floor(at / PAGE))?.[at % PAGE]));
    list.replaceChildren(...rows);
    if (hadFocus) list.querySelector('.chosen a')?.focus({ preventScroll: true });
  }
  function moveTo(row) {
    first = Math.max(0, Math.min(last(), row));
    box.scrollTop = isScaled() ? (first / Math.max(1, last())) * (height() - box.clientHeight) : first * ROW;
    draw();
  }
  function choose(at) {
    chosen = Math.max(0, Math.min(count - 1, at));
    if (chosen < first) moveTo(chosen);
    else if (chosen >= first + Math.floor(box.clientHeight / ROW)) moveTo(chosen - Math.floor(box.clientHeight / ROW) + 1);
    else draw();
  }
  box.addEventListener('scroll', () => {
    const span = Math.max(1, height() - box.clientHeight);
    const row = isScaled() ? (box.scrollTop / span) * last() : box.scrollTop / ROW;
    // Setting the position above also scrolls, by less than a pixel.
    if (Math.abs(row - first) * (isScaled() ? span / Math.max(1, last()) : ROW) > 1) { first = row; draw(); }
  });
  box.addEventListener('wheel', (event) => {
    if (!isScaled()) return;
    event.preventDefault();
    moveTo(first + event.deltaY / ROW);
  }, { passive: false });
  new ResizeObserver(() => draw()).observe(box);
  const start = async () => {
    count = (await page(0)).count;
    spacer.style.blockSize = `${height()}px`;
    onCount(count);
    await draw();
  };
  const many = () => Math.floor(box.clientHeight / ROW);
  const keys = {
    ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1),
    PageDown: () => choose(chosen + many()), PageUp: () => choose(chosen - many()),
    Home: () => choose(0), End: () => choose(count - 1),
    Enter: () => (document.activeElement.matches('a, button') ? document.activeElement : list.querySelector('.chosen a'))?.click(),
  };
  return { start, keys };
}

function marks(row) {
  return el('span', { class: 'marks' },
    row.is_template ? el('span', { class: 'mark', title: 'Pages of one template?' }, 'template?') : null,
    row.label ? el('span', { class: `mark ${row.label}` }, labelText(row.label)) : null,
    row.decision ? el('span', { class: 'mark decided' }, decisionText(row.decision)) : null);
}

/** Returns the cells of a row. */
export function cells(row) {
  return [
    el('span', { class: 'close' }, closeness(row)),
    nameOf(row.removed), el('span', { class: 'quiet arrow' }, names.arrow), nameOf(row.kept),
    el('span', { class: 'quiet counts' }, row.lost_words === null || row.lost_words === undefined ? '' : `${number(row.lost_words)} ${names.lostUnit}`,
      row.size && kind === 'removed' ? ` · cluster of ${number(row.size)}` : ''),
    marks(row),
  ];
}

/** Returns a function that opens the pair which comes `by` places later in the list, and links to its neighbours. */
export function placeInList(parameters) {
  const given = Object.fromEntries(parameters);
  const at = given.at === undefined ? null : Number(given.at);
  delete given.at;
  async function step(by) {
    if (at === null || at + by < 0) return;
    const page = await get('rows', { ...given, from: at + by, most: 1 });
    if (page.rows.length) location.hash = `#/pair/${page.rows[0].pair}?${query({ ...given, at: at + by })}`;
    else say('this is the last one');
  }
  const links = at === null ? null : [button('Previous', '←', () => step(-1)), button('Next', '→', () => step(1)),
    el('a', { href: `#/rows?${query(given)}` }, 'back to the list')];
  return { step, links };
}

const FIELDS = [
  ['closeness_from', `${names.closeness} from`], ['closeness_below', 'to below'], ['lost_from', `${names.lost} from`],
  ['lost_to', 'to'], ['size_from', `${names.size} from`], ['size_to', 'to'],
];
const SOURCES = [['source', names.source], ['kept_source', names.kept]];
const ORDERS = [
  ['', 'as in the output'], ['closeness', kind === 'passages' ? 'fewest documents first' : 'least close first'],
  ['closeness-down', kind === 'passages' ? 'most documents first' : 'closest first'],
  ['lost', kind === 'removed' ? 'most lost words first' : 'most words first'], ['cluster', `largest ${names.group} first`],
];

/** Returns a box that selects clusters which may be pages of one template. Only removed documents have such clusters. */
function templateBox(given, apply) {
  if (kind !== 'removed') return null;
  const onchange = (event) => apply({ template: event.target.checked ? 1 : '' });
  return el('label', {}, el('input', { type: 'checkbox', name: 'template', checked: Boolean(given.template), onchange }), ' Only clusters that may be pages of one template');
}

export async function showRows({ content, parameters, setKeys, signal }) {
  const given = Object.fromEntries(parameters);
  const apply = (changes) => { location.hash = `#/rows?${query({ ...given, ...changes })}`; };
  const box = (name, size, inputmode) => el('input', {
    name, value: given[name] ?? '', inputmode, size, onchange: (event) => apply({ [name]: event.target.value }),
  });
  const input = ([name, label]) => el('label', {}, `${label} `, box(name, 6, 'decimal'));
  const source = ([name, label]) => el('label', {}, `${label} `, box(name, 18));
  const words = box('words', 24);
  const search = el('input', { type: 'search', name: 'text', value: given.text ?? '', onchange: (event) => apply({ text: event.target.value }) });
  const order = el('select', { name: 'order', onchange: (event) => apply({ order: event.target.value }) },
    ORDERS.map(([value, text]) => el('option', { value, selected: value === (given.order ?? '') }, text)));
  const fixed = [['chain', 'linked by a chain']];
  const chips = fixed.filter(([name]) => given[name] !== undefined).map(([name, text]) =>
    el('button', { type: 'button', class: 'chip', onclick: () => apply({ [name]: '' }) }, `${text} ✕`));
  const total = el('p', { class: 'quiet', role: 'status' });
  content.append(el('form', { class: 'filters', onsubmit: (event) => event.preventDefault() },
    el('label', { class: 'grow' }, 'Text in IDs and files ', search), FIELDS.map(input), kind === 'items' ? source(SOURCES[0]) : SOURCES.map(source),
    templateBox(given, apply), el('label', {}, 'Order ', order),
    el('fieldset', { class: 'filters' }, el('legend', {}, 'In the documents (reads the inputs again)'),
      el('label', {}, 'Words in a text ', words), el('label', {}, 'Field ', box('field', 10)), el('label', {}, 'has the value ', box('value', 14))),
    chips, el('button', { type: 'button', onclick: () => { location.hash = '#/rows'; } }, 'All')), total);
  const build = (row, at) => el('a', { href: `#/pair/${row.pair}?${query({ ...given, at })}` }, cells(row));
  const list = scroller(content, (from, most) => get('rows', { ...given, from, most }), build,
    (count) => { total.textContent = `${number(count)} ${count === 1 ? names.row : names.many}`; });
  setKeys({ ...list.keys, '/': () => search.focus(), w: () => words.focus() });
  const isSearch = given.words || given.field;
  await (isSearch ? waitFor(list.start, total, signal) : list.start());
}

/** Returns what the list of clusters shows of a cluster: the document that its rows share, and its first row. */
function groupCells({ removed, kept, size }) {
  const arrow = (text) => el('span', { class: 'quiet arrow' }, text);
  if (kind === 'passages') return [nameOf(removed), arrow('shares passages, the first with'), nameOf(kept)];
  if (kind === 'items') return [nameOf(kept), arrow(size === 1 ? 'is in' : `is in ${number(size)}, such as`), nameOf(removed)];
  return [nameOf(kept), arrow(size === 2 ? 'kept for' : `kept for ${number(size - 1)}, such as`), nameOf(removed)];
}

export async function showClusters({ content, parameters, setKeys }) {
  const given = Object.fromEntries(parameters);
  const total = el('p', { class: 'quiet', role: 'status' });
  content.append(el('div', { class: 'filters' }, templateBox(given, (changes) => { location.hash = `#/clusters?${query(changes)}`; })), total);
  const build = (row) => el('a', { href: `#/rows?${query({ size_from: row.size, size_to: row.size, order: 'cluster' })}`, onclick: (event) => {
    event.preventDefault();
    location.hash = `#/pair/${row.pair}`;
  } }, el('span', { class: 'close' }, number(row.size)), ...groupCells(row), marks(row));
  const list = scroller(content, (from, most) => get('clusters', { ...given, from, most }), build,
    (count) => { total.textContent = `${counted(count, names.group)}, the largest first`; });
  setKeys(list.keys);
  await list.start();
  say('');
}
