// The decisions, and the command that applies them.
import { attempt, counted, decisionText, el, get, post } from './page.js';

const about = (d) => (d.decision === 'keep_sources' ? `${d.source} → ${d.kept_source}`
  : [d.id, d.kept_id].filter((id) => id !== undefined).join(' ⇄ '));

export async function showDecisions({ content, signal }) {
  const box = el('div');
  content.append(box);
  async function draw() {
    const { decisions, command } = await get('decisions');
    if (signal.aborted) return;
    const undo = async (decision) => { await post('undo', {}, JSON.stringify(decision)); await draw(); };
    const row = (decision) => el('tr', {}, el('td', {}, decisionText(decision)), el('td', { class: 'id' }, about(decision)),
      el('td', {}, el('button', { type: 'button', 'aria-label': `Undo: ${decisionText(decision)} ${about(decision)}`, onclick: () => attempt(() => undo(decision)) }, 'Undo')));
    box.replaceChildren(el('p', {}, decisions.length
      ? `${counted(decisions.length, 'decision')}. They hold once the run is repeated with them:`
      : 'No decisions yet. Open a removed document to keep it, to swap it with the kept one, or to keep its cluster.'));
    if (decisions.length) {
      box.append(command ? el('code', { class: 'command' }, command)
        : el('p', { class: 'warning' }, 'This run is no dedup, so no command applies the decisions.'),
      el('table', {}, el('thead', {}, el('tr', {}, ['Decision', 'Documents', 'Undo'].map((name) => el('th', { scope: 'col' }, name)))),
        el('tbody', {}, decisions.map(row))));
    }
  }
  await draw();
}
