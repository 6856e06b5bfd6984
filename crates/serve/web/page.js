// Helpers of all pages: elements, requests, numbers.

/** Creates an element. Texts are set as texts, so that nothing of a document becomes markup. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

async function answer(response) {
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
}

/** Returns a button that shows the key which does the same. */
export const button = (text, key, action) => el('button', { type: 'button', onclick: action }, `${text} `, el('kbd', {}, key));

/** Asks the server for rows. */
export async function get(path, parameters = {}) {
  return answer(await fetch(`api/${path}?${query(parameters)}`));
}

/** Asks the server to change something. */
export async function post(path, parameters = {}, body = '') {
  return answer(await fetch(`api/${path}?${query(parameters)}`, { method: 'POST', body }));
}

/** Returns parameters as a query, without those that have no value. */
export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return new URLSearchParams(given).toString();
}

/** What the pages call the rows of each kind of run, and their values. */
const KINDS = {
  removed: {
    rows: 'Removed documents', row: 'removed document', many: 'removed documents', groups: 'Clusters', group: 'cluster', closeness: 'Similarity or distance',
    lost: 'Lost words', lostUnit: 'lost', size: 'Cluster size', member: 'documents', arrow: 'for', pair: 'A pair', sides: ['Removed', 'Kept'],
    removed: 'Removed', source: 'Source of the removed document', kept: 'Source of the kept one',
  },
  passages: {
    rows: 'Passages', row: 'passage', many: 'passages', groups: 'Documents', group: 'document', closeness: 'Documents with the passage',
    lost: 'Words', lostUnit: 'words', size: 'Passages in the document', member: 'passages', arrow: 'is also in', pair: 'A passage', sides: ['Passage', 'The same words in'],
    removed: 'Passages', source: 'Source of the document', kept: 'Source of the other one',
  },
  items: {
    rows: 'Items in documents', row: 'document with an item', many: 'documents with an item', groups: 'Items', group: 'item', closeness: 'Share of the item',
    lost: 'Words', lostUnit: 'words', size: 'Documents with the item', member: 'documents', arrow: 'has', pair: 'An item in a document', sides: ['Document', 'Item'],
    removed: 'Documents', source: 'Source of the document', kept: 'Source of the item',
  },
};
/** Kind of the run that is reviewed. */
export const { kind } = await get('run');
export const names = KINDS[kind];

export const number = (value) => (value === null || value === undefined ? '–' : value.toLocaleString('en-US'));

export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share) => (share === null || share === undefined ? '–' : `${(share * 100).toFixed(1)} %`);

/** Returns an estimate with its interval. */
export const interval = ({ share, low, high }) =>
  share === null || share === undefined ? 'not known yet' : `${percent(share)} (${percent(low)} to ${percent(high)})`;

/** Returns how close the documents of a row are. */
export function closeness({ similarity, distance }) {
  if (typeof similarity === 'number') return similarity.toFixed(3);
  if (typeof distance === 'number') return kind === 'passages' ? counted(distance, 'document') : counted(distance, 'bit');
  return 'chain';
}

let shownMessages = 0;

/** Shows a message that screen readers speak. It goes after a while, unless it is an error. */
export function say(message, isError = false) {
  const status = document.getElementById('status');
  shownMessages += 1;
  const mine = shownMessages;
  status.textContent = message;
  status.classList.toggle('error', isError);
  if (!isError) setTimeout(() => { if (mine === shownMessages) status.textContent = ''; }, 4000);
}

/** Waits for a long search, shows how much of it is done, and lets the person cancel it. Leaving the page cancels it, too. */
export async function waitFor(task, box, signal) {
  const bar = el('progress', { 'aria-label': 'Search', max: 1 });
  const cancel = () => post('cancel').catch(() => {});
  const search = el('span', { class: 'search' }, bar, el('button', { type: 'button', onclick: cancel }, 'Cancel'));
  const timer = setInterval(async () => {
    const { done, total } = await get('progress');
    if (total) bar.value = Math.min(1, done / total);
    if (!search.isConnected) box.append(search);
  }, 400);
  signal.addEventListener('abort', cancel);
  try {
    return await task();
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', cancel);
    search.remove();
  }
}

/** Runs a task and shows its error. */
export async function attempt(task) {
  try {
    return await task();
  } catch (error) {
    say(error.message, true);
    return undefined;
  }
}

/** Returns a document's ID, with its file and record below. */
export function nameOf(document_) {
  const place = `${document_.file}:${document_.record}`;
  const lines = [el('span', { class: 'id' }, document_.id)];
  if (document_.file && place !== document_.id) lines.push(el('span', { class: 'place' }, place));
  return el('span', { class: 'name' }, lines);
}

const LABELS = { yes: 'near-duplicates', no: 'different', gray: 'unsure' };
export const labelText = (label) => LABELS[label] ?? '';

const DECISIONS = {
  keep: 'keep this document', swap: 'keep it in place of the other one', keep_cluster: 'keep the whole cluster',
  keep_sources: 'keep all pairs of these sources',
};
export const decisionText = (decision) => DECISIONS[decision?.decision] ?? '';
