
(() => {
  const box = document.getElementById('wanted');
  const found = document.getElementById('found');
  const ask = document.getElementById('ask');
  if (!box) return;
  document.getElementById('search').hidden = false;
  const quoted = (text) =>
    /^[\w.\/:=,+@%^-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
  const whole = (name) => name.title || name.textContent;
  const clusters = [...document.querySelectorAll('.cluster')].map((cluster) => ({
    cluster,
    ids: [...cluster.querySelectorAll('.id .name')].map((id) => whole(id).toLowerCase()),
  }));
  box.addEventListener('input', () => {
    const wanted = box.value.trim();
    let shown = 0;
    for (const { cluster, ids } of clusters) {
      const is_hit = ids.some((id) => id.includes(wanted.toLowerCase()));
      cluster.hidden = !is_hit;
      cluster.open = is_hit && wanted !== '' && ids.includes(wanted.toLowerCase());
      shown += is_hit;
    }
    found.textContent = wanted === '' ? '' : shown === 0
      ? 'No cluster on this page has such an ID.'
      : shown + (shown === 1 ? ' cluster on this page.' : ' clusters on this page.');
    if (ask) {
      ask.hidden = wanted === '';
      const word = quoted(wanted);
      ask.lastElementChild.textContent =
        ask.dataset.why + (word.startsWith('-') ? ' -- ' : ' ') + word;
    }
  });
})();
