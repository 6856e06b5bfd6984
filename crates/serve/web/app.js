// Chooses the page by the part of the address behind the number sign, and handles the keys that all pages have.
import { attempt, el, kind, names, say } from './page.js';
import { showClusters, showRows } from './list.js';
import { showDecisions } from './decide.js';
import { showFound } from './found.js';
import { showJudge } from './judge.js';
import { showOverview } from './overview.js';
import { showPair } from './pair.js';

const PAGES = {
  overview: showOverview, rows: showRows, clusters: showClusters, judge: showJudge, decisions: showDecisions,
  pair: kind === 'removed' ? showPair : showFound,
};
const TITLES = {
  overview: 'Overview', rows: names.rows, clusters: names.groups, judge: 'Judge a sample',
  decisions: 'Decisions', pair: names.pair,
};
const main = document.getElementById('main');
const keys = document.getElementById('keys');
const LINKS = { ...TITLES, rows: names.removed, judge: 'Judge' };
for (const link of document.querySelectorAll('nav a')) {
  link.textContent = LINKS[link.dataset.page];
  // People judge and decide only what a run removes.
  if (kind !== 'removed' && ['judge', 'decisions'].includes(link.dataset.page)) link.remove();
}
let leave = new AbortController();
/** Keys of the present page: each key with its function. */
let pageKeys = {};

async function show() {
  const [path, parameters] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, argument] = path.split('/');
  const page = PAGES[name] ? name : 'overview';
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.page === page) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${TITLES[page]} – simtool review`;
  pageKeys = {};
  say('');
  const content = el('div', { class: `page ${page}` }, el('h1', {}, TITLES[page]));
  main.replaceChildren(content);
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  const context = {
    content, signal, argument, parameters: new URLSearchParams(parameters ?? ''),
    setKeys: (map) => { if (!signal.aborted) pageKeys = map; },
  };
  await attempt(() => PAGES[page](context));
  content.dataset.ready = 'true';
}

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, select, textarea');
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open || isTyping) return;
  const pages = ['overview', 'rows', 'clusters', 'judge', 'decisions'];
  if (event.key >= '1' && event.key <= '5') location.hash = `#/${pages[event.key - 1]}`;
  else if (event.key === '?') keys.showModal();
  else if (pageKeys[event.key]) attempt(() => pageKeys[event.key](event));
  else return;
  event.preventDefault();
});
document.getElementById('keys-button').addEventListener('click', () => keys.showModal());
window.addEventListener('hashchange', show);
show();
