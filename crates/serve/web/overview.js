// The overview: counts of the run, histograms and pairs of sources. Each bar and each cell leads to its documents.
import { counted, el, get, kind, names, number, percent, query } from './page.js';

/** Returns a histogram as a list of links. `link` returns the address of a bar. */
function histogram(title, bars, name, link) {
  const largest = Math.max(1, ...bars.map((bar) => bar.count));
  const items = bars.filter((bar) => bar.count > 0).map((bar) => {
    const fill = el('span', { class: 'fill' });
    fill.style.inlineSize = `${(100 * bar.count) / largest}%`;
    return el('li', {}, el('a', { href: link(bar) },
      el('span', { class: 'what' }, name(bar)), el('span', { class: 'track' }, fill),
      el('span', { class: 'n' }, number(bar.count))));
  });
  return el('section', { class: 'card' }, el('h2', {}, title), el('ol', { class: 'bars' }, items));
}

/** Returns the name of a bar of whole numbers. */
function range(bar, noun) {
  if (bar.from === null) return 'not counted';
  if (bar.below === null) return `${number(bar.from)} or more ${noun}`;
  const last = bar.below - 1;
  return last === bar.from ? `${number(last)} ${noun}` : `${number(bar.from)} to ${number(last)} ${noun}`;
}

function closenessName(bar, isDistance) {
  if (bar.from === null) return 'chain of others';
  if (kind === 'passages') return range(bar, 'documents');
  if (isDistance) return `${bar.from} bits`;
  return bar.from === 1 ? (kind === 'items' ? '1 (all of it)' : '1 (same shingles)') : `${bar.from.toFixed(2)} to ${Math.min(bar.below, 1).toFixed(2)}`;
}

/** Returns a table of the largest sources: removed documents in rows, kept documents in columns. */
function sourceTable(pairs) {
  const totals = new Map();
  for (const pair of pairs) for (const name of pair.names) totals.set(name, (totals.get(name) ?? 0) + pair.count);
  const shown = [...totals].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([source]) => source);
  const largest = Math.max(1, ...pairs.map((pair) => pair.count));
  const cell = (source, keptSource) => {
    const pair = pairs.find((p) => p.names[0] === source && p.names[1] === keptSource);
    if (!pair) return el('td');
    const td = el('td', { class: 'heat n' }, el('a', {
      href: `#/rows?${query({ source, kept_source: keptSource })}`,
      'aria-label': `${number(pair.count)} ${names.many}: ${pair.names[0]} ${names.arrow} ${pair.names[1]}`,
    }, number(pair.count)));
    td.style.setProperty('--heat', `${8 + (32 * pair.count) / largest}%`);
    return td;
  };
  const head = el('tr', {}, el('th', { scope: 'col' }, names.sides[0]),
    shown.map((source) => el('th', { scope: 'col' }, source)));
  const rows = shown.map((source) => el('tr', {}, el('th', { scope: 'row' }, source),
    shown.map((kept) => cell(source, kept))));
  return el('section', { class: 'card wide' }, el('h2', {}, 'Sources'),
    el('p', { class: 'quiet' }, kind === 'removed'
      ? 'Rows: sources of removed documents. Columns: sources of the documents that are kept for them.'
      : 'Rows: sources of the documents. Columns: sources of other documents with the same passage.'),
    el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of sources' },
      el('table', {}, el('thead', {}, head), el('tbody', {}, rows))));
}

export async function showOverview({ content }) {
  const run = await get('overview');
  const limit = run.limit === null ? '' : `, limit ${run.limit}`;
  const all = run.figures[0][1];
  content.append(
    el('p', { class: 'quiet' }, run.method === null ? run.output : `${run.output}: method ${run.method}${limit}`),
    el('dl', { class: 'figures' }, run.figures.filter(([, value]) => value !== null).map(([name, value]) =>
      el('div', {}, el('dt', {}, name), el('dd', {}, number(value),
        name === 'removed' && all ? el('small', {}, percent(value / all)) : null)))),
  );
  if (kind === 'removed') {
    const link = (page, text) => el('a', { href: `#/${page}` }, text);
    content.append(el('p', {}, 'Look at the ', link('rows', 'removed documents'), ' or their ', link('clusters', 'clusters'), ', ',
      link('judge', 'judge a random sample'), ' to learn how many removals are right, and overrule single ones on the page of a document.'));
  }
  if (run.changes.length) {
    content.append(el('section', { class: 'warning' }, el('h2', {}, 'Changed since the run'),
      el('ul', {}, run.changes.map((change) => el('li', {}, change)))));
  }
  if (run.templates) {
    content.append(el('p', { class: 'warning' }, `${counted(run.templates, 'cluster')} may be pages of one template and no copies: `,
      el('a', { href: '#/clusters?template=1' }, 'look at the clusters'), ' or ', el('a', { href: '#/rows?template=1' }, 'at the removed documents'), '.'));
  }
  const closenessLink = (bar) => `#/rows?${bar.from === null ? 'chain=1'
    : query({ closeness_from: bar.from, closeness_below: bar.below })}`;
  const upTo = (bar) => (bar.below === null ? null : bar.below - 1);
  content.append(el('div', { class: 'cards' }, [
    histogram(kind === 'removed' ? `Removed by ${run.is_distance ? 'distance' : 'similarity'}` : names.closeness, run.closeness,
      (bar) => closenessName(bar, run.is_distance), closenessLink),
    histogram(kind === 'removed' ? 'Removed by lost words' : names.lost, run.lost, (bar) => range(bar, 'words'),
      (bar) => `#/rows?${query({ lost_from: bar.from, lost_to: upTo(bar), order: 'lost' })}`),
    histogram(kind === 'removed' ? 'Clusters by size' : names.size, run.sizes, (bar) => range(bar, names.member),
      (bar) => `#/rows?${query({ size_from: bar.from, size_to: upTo(bar), order: 'cluster' })}`),
    kind === 'items' ? null : sourceTable(run.sources),
  ].filter(Boolean)));
  content.append(el('details', {}, el('summary', {}, 'Command of the run'), el('code', { class: 'command' }, run.command)),
    kind === 'removed' ? el('p', { class: 'quiet' }, `Judgements go to ${run.labels}, decisions to ${run.decisions}.`) : '');
}
