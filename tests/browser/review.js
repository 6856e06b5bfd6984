// Tests the pages of `simtool review` in a real browser: open, filter, search, judge 20 pairs by keys, kill the server and
// go on, judge 50 pairs and read the precision, merge judgements, decide, run again, compare. Then a pair of HTML pages,
// texts of 50 MB in files whose names are not UTF-8, passages, and evaluation items.
//
//   node review.js PROGRAM CHROMIUM [PICTURES]
//
// With PICTURES, writes a picture of each page to this folder. `scripts/browser-test` installs what this needs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [program, executablePath, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'simtool-review-'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror=document.title="hacked">\u202e';

// A slash separates words of which one is chosen.
const SENTENCES = [
  'In spring/summer/autumn/winter the old/new/last ferry leaves the harbour/island/town without passengers/bicycles/cars/music.',
  'The baker/miller/teacher/doctor of the village sells bread/honey/apples/wool on Monday/Tuesday/Friday morning.',
  'A storm/flood/fire damaged the bridge/tower/school/mill near the river/station/church/market again/twice.',
  'Children/Visitors/Farmers/Sailors like the museum/garden/library/lighthouse because its stairs/walls/windows/rooms are very old/high/bright.',
  'The council will repair/paint/close/rebuild the road/wall/hall/pier behind the station/castle/bakery/quay.',
  'Nobody knows who wrote/found/lost/sent the letter/map/painting/diary in the attic/cellar/archive/boat.',
  'After the concert/meeting/race/fair people walk/cycle/drive/sail home along the quiet/dark/narrow/wet street/coast/canal.',
  'Our soup/cake/cheese/bread needs two/four/six onions/eggs/spoons/pears and some thyme/butter/cream/patience.',
  'The train to the coast/capital/border/mountains takes nine/twenty/forty minutes if it runs/stops/turns.',
  'My neighbour/grandmother/brother/captain keeps bees/goats/pigeons/rabbits and gives away wool/milk/honey/eggs every winter/week/month.',
];

/** Writes 40 articles, most with changed copies on other hosts. */
function writeDocuments() {
  let random = 7;
  const one = (values) => {
    random = (random * 48271) % 2147483647;
    return values[random % values.length];
  };
  const sentence = () => one(SENTENCES).split(' ').map((word) => one(word.split('/')));
  const articles = Array.from({ length: 40 }, () => Array.from({ length: 6 }, sentence).flat());
  const text = (article) => [...articles[article]];
  const lines = [];
  for (let article = 0; article < 40; article += 1) {
    for (let copy = 0; copy <= article % 4; copy += 1) {
      const changed = text(article);
      for (let at = 0; at < copy; at += 1) changed[10 + at * 17] = ['yesterday', 'tomorrow', 'again'][copy - 1];
      if (article === 7 && copy === 1) changed.push(HOSTILE);
      if (article === 10 && copy === 1) changed.push(...changed.splice(0, 12));
      const id = article === 7 ? `${HOSTILE}${copy}` : `https://host${(article + copy) % 3}.example/page-${article}-${copy}`;
      lines.push(JSON.stringify({ id, lang: ['de', 'en'][(article + copy) % 2], text: changed.join(' ') }));
    }
  }
  writeFileSync(join(folder, 'docs.jsonl'), `${lines.join('\n')}\n`);
}

const simtool = (...words) => execFileSync(program, words, { cwd: folder, encoding: 'utf8' });

/** Writes two pages of HTML, two texts of 50 MB in files whose names are not UTF-8, and an evaluation item. */
function writeOtherInputs() {
  const article = 'Rivers carry water from the mountains to the sea, and people have lived near them for long. '.repeat(12);
  const menu = '<li><a href="/x">Another article about something else</a></li>'.repeat(12);
  for (const name of ['pages', 'long']) mkdirSync(join(folder, name));
  for (const name of ['first', 'second']) {
    writeFileSync(join(folder, `pages/${name}.html`), `<html><head><title>Rivers</title></head><body><nav><ul>${menu}</ul></nav>
      <main><h1>Rivers</h1><p>${article} The ${name} one.</p></main><footer>Imprint and copyright</footer></body></html>`);
    const text = `${'a word '.repeat(4 << 20)}${'é'.repeat(11 << 20)} ${name}`;
    const file = Buffer.concat([Buffer.from(`${folder}/long/`), Buffer.from([0xff]), Buffer.from(`${name}.jsonl`)]);
    writeFileSync(file, `${JSON.stringify({ id: `${HOSTILE}${name}`, text })}\n`);
  }
  // Nine pages of one template, and twelve copies.
  const frame = 'menu home news sport culture imprint contact help all pages of this site';
  const names = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen', 'jay'];
  const texts = [...names.map((name) => `${frame} ${name} the${name} of${name}`), ...Array(12).fill(article)];
  writeFileSync(join(folder, 'templates.jsonl'), texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
  const item = JSON.parse(readFileSync(join(folder, 'docs.jsonl'), 'utf8').split('\n')[0]).text;
  writeFileSync(join(folder, 'items.jsonl'), `${JSON.stringify({ id: 'item-1', text: item })}\n`);
}

/** Starts the server for a run, and returns it with the address that it prints. */
async function serve(run = 'out', ...options) {
  const server = spawn(program, ['review', run, '--quiet', ...options], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve) => server.stdout.once('data', (line) => resolve(String(line).trim())));
  return { server, address };
}

/** Returns the elements of a page that end outside of it. */
function widest() {
  const outside = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > window.innerWidth);
  return outside.map((e) => `${e.localName}.${e.className}`).slice(0, 5).join(' ');
}

writeDocuments();
writeOtherInputs();
simtool('dedup', 'docs.jsonl', '--similarity', '0.6', '--output', 'out', '--quiet');
simtool('dedup', 'pages', '--similarity', '0.6', '--output', 'found-pages', '--quiet');
simtool('dedup', 'long', '--similarity', '0.6', '--output', 'found-long', '--quiet');
simtool('dedup', 'templates.jsonl', '--shingle', '1', '--similarity', '0.6', '--output', 'found-templates', '--quiet');
simtool('passages', 'docs.jsonl', '--words', '12', '--write-kept', '--output', 'found-passages', '--quiet');
simtool('contamination', 'items.jsonl', '--in', 'docs.jsonl', '--write-kept=drop', '--output', 'found-items', '--quiet');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const faults = [];
let { server, address } = await serve();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  const outside = [];
  page.on('request', (request) => { if (!/^(data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) outside.push(request.url()); });
  page.on('pageerror', (error) => faults.push(`error on a page: ${error.message}`));
  const isReady = () => page.waitForSelector('.page[data-ready="true"]');
  /** Presses the key of a page, and waits until this page is shown and ready. The page before it is ready already. */
  async function press(key, name) {
    await page.keyboard.press(key);
    await page.waitForSelector(`.page.${name}[data-ready="true"]`);
  }

  /** Looks at the present page: accessibility, width, and a picture. */
  async function look(name) {
    await isReady();
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(`${axe}; axe.run()`);
      const serious = violations.filter((rule) => ['serious', 'critical'].includes(rule.impact));
      faults.push(...serious.map((rule) => `${name}, ${colorScheme}: ${rule.id}: ${rule.nodes[0].html.slice(0, 200)}`));
    }
    await page.emulateMedia({ colorScheme: 'light' });
    for (const width of [360, 2560, 1280]) {
      await page.setViewportSize({ width, height: 860 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) faults.push(`${name}: ${over} pixels too wide at ${width}: ${await page.evaluate(widest)}`);
    }
    if (pictures) await page.screenshot({ path: join(pictures, `review-${name}.png`) });
  }
  const state = () => page.textContent('.state');
  /** Serves another run, and opens one of its pages. */
  async function open(path, ...run) {
    server.kill('SIGKILL');
    ({ server, address } = await serve(...run));
    await page.goto(`${address}#/${path}`);
    await page.waitForSelector(`.page.${path.split(/[?/]/)[0]}[data-ready="true"]`);
  }

  await page.goto(address);
  await look('overview');
  await press('2', 'rows');
  await look('rows');
  const shownRows = () => page.textContent('.page.rows p[role=status]');
  assert.equal(await shownRows(), '60 removed documents');
  await page.keyboard.press('/');
  await page.keyboard.type('page-11-');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.page.rows p[role=status]')?.textContent === '3 removed documents');
  await isReady();
  await page.locator('.scroller').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.pair ins');
  await look('pair');
  assert.match(await page.textContent('.pair'), /similarity is 0\.\d+/);
  await page.keyboard.press('d');
  assert.equal(await page.locator('.shown').count(), 1);
  await page.keyboard.press('f');
  await page.waitForSelector('details table');
  assert.match(await page.textContent('details table'), /lang(de|en)(de|en)/);
  await page.keyboard.press('k');
  await page.waitForFunction(() => document.querySelector('.state').textContent.includes('decided: keep this document'));
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('.state')?.textContent.includes('no decision'));
  await press('3', 'clusters');
  await look('clusters');

  await page.goto(`${address}#/rows?text=page-10-1`);
  await page.waitForSelector('.row a');
  await page.click('.row a');
  await page.locator('.moved').first().press('Enter');
  assert.deepEqual(await page.locator('.shown').evaluateAll((all) => all.map((e) => e.localName)), ['del', 'ins']);
  const moved = await page.locator('.shown').allTextContents();
  assert.equal(moved[0], moved[1]);
  assert.ok(moved[0].split(' ').length >= 8, moved[0]);
  await look('moved');

  await page.goto(`${address}#/rows`);
  await page.waitForSelector('.page.rows[data-ready="true"]');
  await page.keyboard.press('w');
  await page.keyboard.type('YESTERDAY');
  await page.keyboard.press('Tab');
  await page.waitForFunction(() => document.querySelector('.page.rows p[role=status]')?.textContent.startsWith('30 '));
  await page.goto(`${address}#/rows?field=lang&value=de&words=tomorrow`);
  await page.waitForFunction(() => document.querySelector('.page.rows p[role=status]')?.textContent.startsWith('10 '));
  await look('search');

  await page.goto(`${address}#/rows?text=onerror`);
  await page.waitForSelector('.row a');
  await page.click('.row a');
  await page.waitForSelector('.pair .text span');
  assert.notEqual(await page.title(), 'hacked');
  assert.equal(await page.locator('main img').count(), 0);

  await press('4', 'judge');
  for (let judged = 1; judged <= 20; judged += 1) {
    await page.keyboard.press(judged % 5 ? 'y' : 'n');
    await page.waitForFunction((count) => document.querySelector('.state').textContent.includes(`${count} judged`), judged);
  }
  assert.match(await page.textContent('.estimate'), /Precision: \d/);
  server.kill('SIGKILL');
  ({ server, address } = await serve());
  await page.goto(`${address}#/judge`);
  await page.waitForFunction(() => document.querySelector('.state')?.textContent.includes('Pair 21 of'));
  assert.match(await state(), /20 judged/);
  await page.click('text=Add pairs just below the limit');
  await page.waitForFunction(() => /below the limit/.test(document.getElementById('status').textContent));
  await look('judge');
  const labels = readFileSync(join(folder, 'out.labels.tsv'), 'utf8').trim().split('\n');
  assert.equal(labels.length, 21);

  // A trial: a person judges 50 pairs by what the page shows, and reads the precision.
  await open('judge', 'out', '--labels', 'trial.tsv');
  const started = performance.now();
  for (let judged = 1; judged <= 50; judged += 1) {
    await page.waitForSelector(`[data-drawn="${judged - 1}"]`);
    const [, lost, words] = (await page.textContent('.lead')).match(/(\d+) of (\d+) words? of the removed text/);
    await page.keyboard.press(lost / words < 0.1 ? 'y' : 'n');
    await page.waitForFunction((count) => document.querySelector('.state').textContent.includes(`, ${count} judged`), judged);
  }
  const precision = (await page.textContent('.estimate')).match(/Precision: [\d.]+ % \([\d.]+ % to [\d.]+ %\)/);
  const seconds = (performance.now() - started) / 1000;
  assert.ok(precision && seconds < 300, `${precision} after ${seconds} s`);
  console.log(`50 pairs judged by keys in ${seconds.toFixed(1)} s: ${precision[0]}`);

  await open('judge', 'out', '--labels', 'both.tsv', '--labels', 'out.labels.tsv', '--labels', 'trial.tsv');
  const judgedByBoth = await page.textContent('.page > section:last-child');
  assert.match(judgedByBoth, /trial\.tsv: \d+ of \d+ common pairs agree, Cohen's kappa/);
  await page.click('text=Merge');
  await page.waitForFunction(() => /judgements? added to both\.tsv/.test(document.getElementById('status').textContent));
  await look('people');
  assert.ok(readFileSync(join(folder, 'both.tsv'), 'utf8').split('\n').length > 30);

  await open('pair/r0', 'found-pages');
  await page.click('text=Show the whole page');
  await page.waitForSelector('details.out');
  assert.match(await page.textContent('.text'), /Another article[\s\S]*Rivers carry water/);
  await look('page');

  const before50 = performance.now();
  await open('pair/r0', 'found-long');
  await page.waitForSelector('.pair ins');
  assert.match(await page.textContent('.sides'), /\\xff(first|second)\.jsonl/);
  assert.match(await page.textContent('.sides'), /equal bytes/);
  assert.notEqual(await page.title(), 'hacked');
  console.log(`a pair of texts of 50 MB opens in ${((performance.now() - before50) / 1000).toFixed(1)} s`);
  await look('long');

  await open('rows', 'found-passages');
  assert.match(await shownRows(), /^\d+ passages$/);
  assert.deepEqual(await page.locator('nav a').allTextContents(), ['Overview', 'Passages', 'Documents']);
  await look('passages');
  await page.click('.row a');
  await page.waitForSelector('mark');
  assert.equal(await page.locator('.side mark').count(), 2);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash.includes('at=1'));
  await isReady();
  await look('passage');
  await press('1', 'overview');
  await look('passages-overview');
  await open('clusters', 'found-items');
  await look('items');
  await page.click('.row a');
  await page.waitForSelector('mark');
  await look('item');

  await open('clusters', 'found-templates');
  assert.equal(await page.locator('.row').count(), 2);
  await page.check('[name=template]');
  await page.waitForFunction(() => document.querySelector('.page.clusters p[role=status]')?.textContent.startsWith('1 cluster,'));
  await look('templates');
  await press('1', 'overview');
  await page.click('.warning a:last-of-type');
  await page.waitForFunction(() => document.querySelector('.page.rows p[role=status]')?.textContent === '8 removed documents');

  await open('overview');

  await press('5', 'decisions');
  await look('decisions');
  assert.match(await page.textContent('.command'), /--decisions out\.decisions\.jsonl/);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  const before = JSON.parse(readFileSync(join(folder, 'out/summary.json'), 'utf8'));
  const after = JSON.parse(simtool('dedup', 'docs.jsonl', '--similarity', '0.6', '--output', 'decided', '--decisions', 'out.decisions.jsonl', '--json', '--quiet'));
  assert.deepEqual([after.removed, after.decisions, after.unfit_decisions], [before.removed - 1, 1, 0]);
  simtool('eval', '--corpus', 'docs.jsonl', '--truth', 'out.labels.tsv', '--method', 'exact', '--quiet');
  assert.deepEqual(outside, []);
  assert.deepEqual(faults, []);
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  assert.equal(await ended, 0);
  console.log('the pages of review: 1 passed, 0 failed');
} finally {
  server.kill('SIGKILL');
  await browser.close();
  rmSync(folder, { recursive: true });
}
