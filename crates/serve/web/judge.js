// Judging a random sample by keys, with the estimates that the judgements give so far.
import { attempt, counted, el, get, interval, labelText, names, number, post, query, say, waitFor } from './page.js';
import { drawPair, judge, textKeys } from './pair.js';

/** Fewest judgements for which a limit is advised. A few right ones would advise any limit. */
const LEAST_JUDGED = 30;

/** Returns the estimates as a section. */
function drawEstimate(box, estimate) {
  const { whole, limits, bands, below } = estimate;
  const limitText = ({ target, limit, rows }) => (limit === null
    ? `for ${target * 100} % precision: no limit reaches it yet`
    : `for ${target * 100} % precision, a similarity limit of ${limit}, which removes ${number(rows)} documents`);
  const row = (band) => el('tr', {}, el('th', { scope: 'row' }, `${band.from}`),
    el('td', { class: 'n' }, number(band.rows)), el('td', { class: 'n' }, `${band.yes} of ${band.judged}`),
    el('td', { class: 'n' }, band.judged ? interval(band) : '–'));
  box.replaceChildren(
    el('h2', {}, 'What the judgements say'),
    el('p', { class: 'big' }, `Precision: ${interval(whole)}`),
    el('p', { class: 'quiet' }, `${estimate.yes} near-duplicates, ${estimate.no} different, ${estimate.unsure} unsure, which do not count. Intervals of 95 %. Each band of similarity counts by its documents.`),
    whole.judged < LEAST_JUDGED ? el('p', {}, `After ${LEAST_JUDGED} judgements, limits for 90, 95 and 99 % are advised here.`)
      : [el('p', {}, 'Limits that the judgements so far advise. More judgements make them more certain:'), el('ul', {}, limits.map((limit) => el('li', {}, limitText(limit))))],
    el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Precision by band' }, el('table', {},
      el('thead', {}, el('tr', {}, [`${names.closeness} from`, 'Removed', 'Right', 'Precision'].map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, bands.map(row)))),
  );
  if (below) {
    const recall = below.recall ? interval(below.recall) : 'not known before pairs below the limit are judged';
    box.append(el('p', {}, `${counted(below.rows, 'pair')} of kept documents just below the limit, ${below.yes} of ${below.judged} judged ones are near-duplicates. Recall near the limit, the share of all near-duplicates there that the run removed: ${recall}.`));
  }
}

/** Shows how much several people agree, the pairs on which they do not, and a button that merges their judgements. */
function drawPeople(box, people, refresh) {
  box.hidden = !people;
  if (!people) return;
  const { files, agreements, disagreements, mergeable } = people;
  const agreed = ({ files: both, agreed: same, common, kappa }) => `${both.join(' and ')}: ${same} of ${counted(common, 'common pair')} agree, Cohen's kappa ${kappa === null ? 'not defined' : kappa.toFixed(2)}`;
  async function merge() {
    const added = await post('merge');
    await refresh();
    say(`${counted(added, 'judgement')} added to ${files[0]}`);
  }
  const row = (pair) => el('tr', {}, el('td', { class: 'id' }, el('a', { href: `#/rows?${query({ text: pair.removed })}` }, pair.removed)), el('td', { class: 'id' }, pair.kept),
    pair.judgements.map((judged) => el('td', {}, judged ? labelText(judged[0]) : '–', judged?.[1] ? el('small', {}, judged[1]) : null)));
  box.replaceChildren(el('h2', {}, 'People'), el('ul', {}, agreements.map((both) => el('li', {}, agreed(both)))),
    el('p', {}, mergeable ? `${counted(mergeable, 'pair')} of the other files, on which they agree, can be added to ${files[0]}. ` : `${files[0]} has all pairs on which the other files agree. `,
      mergeable ? el('button', { type: 'button', onclick: () => attempt(merge) }, 'Merge') : null),
    disagreements.length ? el('p', {}, `${counted(disagreements.length, 'pair')} with different judgements. The judgement in ${files[0]} decides:`) : el('p', {}, 'No pair has different judgements.'));
  if (!disagreements.length) return;
  box.append(el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Pairs with different judgements' }, el('table', {},
    el('thead', {}, el('tr', {}, ['Removed', 'Kept', ...files].map((title) => el('th', { scope: 'col' }, title)))), el('tbody', {}, disagreements.map(row)))));
}

export async function showJudge({ content, parameters, setKeys, signal }) {
  const seed = parameters.get('seed') ?? '1';
  const size = parameters.get('size') ?? '200';
  const [state, texts] = [el('p', { role: 'status', class: 'state' }), el('div')];
  const [estimates, people] = [0, 1].map(() => el('section', { class: 'card estimate' }));
  const note = el('input', { name: 'note', size: 30 });
  let pairs = [];
  let at = 0;
  let turn = 0;
  const next = new Map();
  const load = (name) => {
    if (!next.has(name)) next.set(name, get('pair', { pair: name }));
    return next.get(name);
  };
  async function draw() {
    turn += 1;
    const mine = turn;
    const pair = pairs[at];
    if (!pair) {
      const done = pairs.filter((p) => p.label).length;
      state.textContent = pairs.length ? `All ${done} pairs of the sample are judged.` : 'The run removed nothing.';
      texts.replaceChildren();
      return;
    }
    const done = pairs.filter((p) => p.label).length;
    state.textContent = `Pair ${at + 1} of ${pairs.length}, ${done} judged${pair.label ? ` · this one: ${labelText(pair.label)}` : ''}`;
    const found = await load(pair.pair);
    if (mine !== turn || signal.aborted) return;
    note.value = pair.note ?? '';
    open.href = `#/pair/${pair.pair}`;
    const show = (shown, words) => drawPair(texts, shown, () => attempt(async () => {
      const longer = await get('pair', { pair: pair.pair, words });
      if (mine === turn && !signal.aborted) show(longer, words * 10);
    }));
    show(found, 30000);
    window.scrollTo(0, 0);
    texts.dataset.drawn = at;
    next.clear();
    if (pairs[at + 1]) load(pairs[at + 1].pair).catch(() => {});
  }
  async function refresh() {
    const estimate = await get('estimate');
    if (signal.aborted) return;
    drawEstimate(estimates, estimate);
    drawPeople(people, estimate.people, refresh);
  }
  async function write(value) {
    const pair = pairs[at];
    if (!pair) return;
    await judge(pair, value, note.value, false);
    pair.label = value || null;
    pair.note = note.value;
    say(`pair ${at + 1}: ${value ? labelText(value) : 'judgement cleared'}`);
    if (value) at += 1;
    await Promise.all([draw(), refresh()]);
  }
  // A key that is pressed before the last judgement is written is for the next pair.
  let writing = Promise.resolve();
  function label(value) {
    const wait = writing;
    writing = (async () => { await wait.catch(() => {}); await write(value); })();
    return writing;
  }
  function step(by) {
    at = Math.max(0, Math.min(pairs.length, at + by));
    return draw();
  }
  const button = (text, key, action) => el('button', { type: 'button', onclick: () => attempt(action) }, `${text} `, el('kbd', {}, key));
  async function searchBelow(event) {
    event.target.disabled = true;
    say('reading the inputs again to find pairs below the limit …');
    const found = await attempt(() => waitFor(() => post('below'), tools, signal));
    event.target.disabled = false;
    if (!found) return;
    await start();
    say(found.count ? `${counted(found.count, 'pair')} below the limit, down to similarity ${found.from}, are among the pairs now` : 'there are no pairs just below the limit');
  }
  async function start() {
    ({ pairs } = await get('sample', { seed, size }));
    // A review that was stopped goes on at the first pair without a judgement.
    const first = pairs.findIndex((pair) => !pair.label);
    at = first < 0 ? pairs.length : first;
    await Promise.all([draw(), refresh()]);
  }
  const field = (name, label_, value, title) => el('label', { title }, `${label_} `, el('input', {
    name, value, size: 5, inputmode: 'numeric',
    onchange: (event) => { location.hash = `#/judge?${query({ seed, size, [name]: event.target.value })}`; },
  }));
  const tools = el('div', { class: 'tools' }, field('size', 'Pairs', size, 'Number of pairs of the sample'), field('seed', 'Seed', seed, 'Another number gives another sample'),
    el('button', { type: 'button', onclick: searchBelow, title: 'Finds pairs of kept documents that are nearly similar enough, to estimate what the run misses' }, 'Add pairs just below the limit'));
  const open = el('a', { href: '#/judge' }, 'Open this pair to keep or swap it');
  content.append(el('p', { class: 'quiet' }, 'Does the kept text make the removed one superfluous? Press ', el('kbd', {}, 'y'), ' if it does, and ',
    el('kbd', {}, 'n'), ' if something that matters would be lost. Other headers, dates or paths usually do not matter. A judgement changes no result. The pairs are random ones of each band of similarity, so you can stop at any time: the estimates below get narrower with each judgement.'), tools, state,
  el('div', { class: 'tools', role: 'group', 'aria-label': 'Judge' },
    button('Near-duplicates', 'y', () => label('yes')), button('Different', 'n', () => label('no')),
    button('Unsure', 'u', () => label('gray')), button('Clear', 'x', () => label('')),
    button('Back', '←', () => step(-1)), button('Skip', '→', () => step(1)), el('label', {}, 'Note ', el('kbd', {}, 'm'), ' ', note), open),
  texts, estimates, people);
  note.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === 'Escape') note.blur(); });
  setKeys({
    y: () => label('yes'), n: () => label('no'), u: () => label('gray'), x: () => label(''), m: () => note.focus(),
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ...textKeys(texts),
  });
  await start();
}
