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

export const number = (value) => (value === null || value === undefined ? '–' : value.toLocaleString('en-US'));

export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share) => (share === null || share === undefined ? '–' : `${(share * 100).toFixed(1)} %`);

/** Returns an estimate with its interval. */
export const interval = ({ share, low, high }) =>
  share === null || share === undefined ? 'not known yet' : `${percent(share)} (${percent(low)} to ${percent(high)})`;

/** Returns how close the documents of a row are. */
export function closeness({ similarity, distance }) {
  if (typeof similarity === 'number') return similarity.toFixed(3);
  if (typeof distance === 'number') return `${distance} bit${distance === 1 ? '' : 's'}`;
  return 'chain';
}

/** Shows a message that screen readers speak. */
export function say(message, isError = false) {
  const status = document.getElementById('status');
  status.textContent = message;
  status.classList.toggle('error', isError);
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
  if (place !== document_.id) lines.push(el('span', { class: 'place' }, place));
  return el('span', { class: 'name' }, lines);
}

const LABELS = { yes: 'near-duplicates', no: 'different', gray: 'unsure' };
export const labelText = (label) => LABELS[label] ?? '';

const DECISIONS = {
  keep: 'keep this document', swap: 'keep it in place of the other one', keep_cluster: 'keep the whole cluster',
  keep_sources: 'keep all pairs of these sources',
};
export const decisionText = (decision) => DECISIONS[decision?.decision] ?? '';
