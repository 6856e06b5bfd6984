// A pair of documents: both texts, where they differ, why one was removed, and what people say about it.
import { attempt, button, closeness, counted, decisionText, el, get, labelText, nameOf, number, post, say } from './page.js';
import { cells, placeInList } from './list.js';
import { fieldsOf } from './fields.js';

/** Adds the parts of the comparison to the texts of the kept and the removed document. `isLoss` marks words that are lost. */
function addPieces(pieces, kept, removed, isLoss) {
  const gap = (text) => el('span', { class: 'gap' }, ` ⋯ ${text} ⋯ `);
  const both = (build) => { for (const side of [kept, removed]) side.append(build()); };
  pieces.forEach(([kind, first, second], at) => {
    // A passage that changed its place leads to its other place. So do equal words, by a click.
    const link = { 'data-link': second === undefined ? at : `moved ${second}` };
    const moved = second === undefined ? {} : { ...link, class: 'moved', tabindex: '0', role: 'link', title: 'Moved: go to its other place' };
    if (kind === 'both') both(() => el('span', link, first));
    else if (kind === 'kept') kept.append(el('del', moved, first));
    else if (kind === 'removed') removed.append(el('ins', moved, first));
    else if (kind === 'lost') removed.append(el('ins', isLoss ? { class: 'lost', title: 'Lost' } : {}, first));
    else if (kind === 'equal') both(() => gap(counted(first, 'equal word')));
    else if (kind === 'equal bytes') both(() => gap(`${number(first)} equal bytes`));
    else {
      const noun = kind === 'unread' ? 'words' : 'bytes';
      if (first) kept.append(gap(`${number(first)} more ${noun}, not compared`));
      if (second) removed.append(gap(`${number(second)} more ${noun}, not compared`));
    }
  });
}

/** Time of the last jump in a text, after which the other text stays where it is. */
let jumped = 0;

/** Scrolls a text so that an element of it is visible. */
function scrollTo(text, element) {
  jumped = performance.now();
  text.scrollTop = element.offsetTop - text.offsetTop - text.clientHeight / 3;
}

/** Makes each passage of one text lead to the same passage of the other one. */
function linkTexts(texts) {
  texts.forEach((text, at) => {
    const other = texts[1 - at];
    const follow = (event) => {
      const { link } = event.target.dataset;
      const found = link === undefined ? null : other.querySelector(`[data-link="${link}"]`);
      if (!found) return;
      for (const shown of document.querySelectorAll('.shown')) shown.classList.remove('shown');
      event.target.classList.add('shown');
      found.classList.add('shown');
      scrollTo(other, found);
    };
    text.addEventListener('scroll', () => {
      if (at === 0 && performance.now() > jumped + 300) other.scrollTop = text.scrollTop;
    });
    text.addEventListener('click', follow);
    text.addEventListener('keydown', (event) => { if (event.key === 'Enter') follow(event); });
  });
}

/** Scrolls both texts of a pair to the next difference, and from the last one to the first. */
function nextDifference(box) {
  const texts = [...box.querySelectorAll('.text')];
  const differences = [...box.querySelectorAll('.text del, .text ins')].sort((a, b) => a.offsetTop - b.offsetTop);
  if (!differences.length) return;
  const before = differences.findIndex((element) => element.classList.contains('shown'));
  differences[before]?.classList.remove('shown');
  const at = (before + 1) % differences.length;
  const next = differences[at];
  next.classList.add('shown');
  say(`difference ${number(at + 1)} of ${number(differences.length)}`);
  // The other text is scrolled to the equal words before the difference.
  let link = next;
  while (link && !link.matches('span[data-link]')) link = link.previousElementSibling;
  for (const text of texts) {
    const element = text.contains(next) ? next : link && text.querySelector(`span[data-link="${link.dataset.link}"]`);
    if (element) scrollTo(text, element);
    else text.scrollTop = 0;
  }
}

/** Shows the whole of an HTML page in place of the text of its main content. What is left out is grey, and folded if it is long. */
async function showWholePage(name, side, text, button) {
  const pieces = await get('page', { pair: name, side });
  const leftOut = (words) => (words.length > 200
    ? el('details', { class: 'out' }, el('summary', {}, `${words.trim().slice(0, 60)} …`), words) : el('span', { class: 'out' }, words));
  text.replaceChildren(...pieces.map(([kind, value]) => {
    if (kind === 'gap') return el('span', { class: 'gap' }, ` ⋯ ${counted(value, 'word')} ⋯ `);
    return kind === 'document' ? el('span', {}, value) : leftOut(value);
  }));
  button.remove();
}

/** Returns why the document was removed, in a sentence. */
function reason(pair) {
  if (pair.pair.startsWith('b')) return `Both are kept: their similarity ${closeness(pair)} is just below the limit.`;
  if (pair.is_coverage) return 'Removed: kept documents have its words, and this one has most of them.';
  if (closeness(pair) === 'chain') return 'Removed: other similar documents link it to the kept one.';
  const what = pair.similarity === null ? 'the fingerprints differ in' : 'the similarity is';
  return `Removed: ${what} ${closeness(pair)}.`;
}

/** Shows a pair in `box`. `more` asks for more words. */
export function drawPair(box, pair, more) {
  const side = (title, document_, text) => {
    const { facts: read } = document_;
    const name = document_ === pair.kept ? 'kept' : 'removed';
    const whole = el('button', { type: 'button', onclick: () => attempt(() => showWholePage(pair.pair, name, text, whole)) }, 'Show the whole page');
    return el('section', { class: 'side' }, el('h2', {}, title), nameOf(document_),
      read ? el('p', { class: 'quiet' }, [read.format, counted(read.bytes, 'byte'), read.left_out].filter(Boolean).join(' · ')) : null,
      read?.left_out ? whole : null, text);
  };
  const text = (label) => el('div', { class: 'text', tabindex: '0', role: 'region', 'aria-label': label });
  const isBelow = pair.pair.startsWith('b');
  const [kept, removed] = [text('Text of the kept document'), text('Text of the removed document')];
  const facts = [reason(pair)];
  if (pair.lost) {
    const words = pair.first_lost.length ? `: ${pair.first_lost.join(', ')}${pair.lost[0] > pair.first_lost.length ? ', …' : ''}` : '';
    const consequence = isBelow ? 'second text are not in the first' : 'removed text are lost';
    facts.push(`${number(pair.lost[0])} of ${counted(pair.lost[1], 'word')} of the ${consequence}${words}.`);
    facts.push(`${number(pair.shared[0])} of ${number(pair.shared[1])} shingles (${pair.shingle}) are shared.`);
  }
  box.replaceChildren(el('p', { class: 'lead' }, facts.map((fact) => el('span', {}, `${fact} `))));
  for (const change of pair.changes ?? []) box.append(el('p', { class: 'warning' }, change));
  if (pair.not_read) {
    box.append(el('p', { class: 'warning' }, `The texts cannot be shown: ${pair.not_read}`));
  } else {
    if (pair.pieces.every(([kind]) => kind === 'both' || kind.startsWith('equal'))) box.append(el('p', {}, 'The compared texts are equal.'));
    addPieces(pair.pieces, kept, removed, !isBelow);
    linkTexts([kept, removed]);
    const only = isBelow ? ['only in the first text', 'only in the second text'] : ['only in the kept text', 'only in the removed text'];
    box.append(el('p', { class: 'quiet' }, 'Marked words are ', el('del', {}, only[0]), ' or ', el('ins', {}, only[1]),
      isBelow ? null : [', ', el('ins', { class: 'lost' }, 'bold'), ' ones are lost: no sequence of words that both texts have contains them'], ', and ', el('i', {}, 'italic'), ' ones have moved. ', el('kbd', {}, 'd'), ' goes to the next difference.'));
  }
  box.append(el('div', { class: 'sides' }, side(isBelow ? 'First' : 'Kept', pair.kept, kept),
    side(isBelow ? 'Second' : 'Removed', pair.removed, removed)), fieldsOf(pair.pair, ['kept', 'removed'], isBelow ? ['First', 'Second'] : ['Kept', 'Removed']));
  if (pair.pieces?.some(([kind]) => kind === 'equal' || kind === 'unread') && more) {
    box.append(el('button', { type: 'button', onclick: more, 'data-more': true }, 'Show more of the texts ', el('kbd', {}, 'e')));
  }
}

/** Returns the keys of the texts that are drawn in `box`. */
export const textKeys = (box) => ({
  d: () => nextDifference(box), f: () => box.querySelector(':scope > details')?.toggle(),
  e: () => box.querySelector('[data-more]')?.click(),
});

/** Writes a judgement. */
export function judge(pair, label, note, isPicked) {
  return post('judge', { pair: pair.pair, label, picked: isPicked ? 1 : null }, note);
}

export async function showPair({ content, argument, parameters, setKeys, signal }) {
  const { step, links } = placeInList(parameters);
  const [state, texts, others] = [el('p', { role: 'status', class: 'state' }), el('div'), el('section')];
  const note = el('input', { name: 'note', size: 40 });
  let pair = null;
  let words = 3000;
  function drawState() {
    const label = pair.label ? `judged: ${labelText(pair.label)}` : 'not judged';
    const decision = pair.decision ? `decided: ${decisionText(pair.decision)}` : 'no decision';
    state.textContent = `${label} · ${decision}`;
  }
  async function load() {
    const found = await get('pair', { pair: argument, words });
    if (signal.aborted) return;
    pair = found;
    note.value = pair.note ?? '';
    drawPair(texts, pair, () => { words *= 10; load(); });
    drawState();
    const rest = (pair.others?.rows ?? []).filter((row) => row.pair !== pair.pair);
    others.replaceChildren();
    if (rest.length) {
      others.append(el('h2', {}, `Other documents of the cluster (${number(pair.others.count - 1)})`),
        el('ul', { class: 'plain' }, rest.map((row) => el('li', { class: 'row' }, el('a', { href: `#/pair/${row.pair}` }, cells(row))))));
    }
  }
  async function label(value) {
    await judge(pair, value, note.value, true);
    pair.label = value || null;
    drawState();
  }
  async function decide(decision) {
    await post('decide', { pair: argument, decision });
    await load();
    say(`${decisionText(pair.decision ?? { decision })}: written`);
  }
  async function undo() {
    if (!pair.decision) return;
    await post('undo', {}, JSON.stringify(pair.decision));
    await load();
  }
  const isRow = argument.startsWith('r');
  content.append(el('div', { class: 'tools' },
    links),
  state,
  el('div', { class: 'tools', role: 'group', 'aria-label': 'Judge' },
    button('Near-duplicates', 'y', () => label('yes')), button('Different', 'n', () => label('no')),
    button('Unsure', 'u', () => label('gray')), button('Clear', 'x', () => label('')),
    el('label', {}, 'Note ', note)),
  isRow ? el('div', { class: 'tools', role: 'group', 'aria-label': 'Decide' },
    button('Keep this one', 'k', () => decide('keep')), button('Swap', 's', () => decide('swap')),
    button('Keep the cluster', 'c', () => decide('keep_cluster')),
    button('Keep all of these sources', 'a', () => decide('keep_sources')), button('Undo', 'z', undo)) : null,
  texts, others);
  note.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === 'Escape') note.blur(); });
  const decideKeys = isRow ? {
    k: () => decide('keep'), s: () => decide('swap'), c: () => decide('keep_cluster'), a: () => decide('keep_sources'), z: undo,
  } : {};
  setKeys({
    y: () => label('yes'), n: () => label('no'), u: () => label('gray'), x: () => label(''), m: () => note.focus(),
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ...textKeys(texts), ...decideKeys,
  });
  await load();
}
