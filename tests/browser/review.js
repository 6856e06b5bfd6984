// Tests the pages of `simtool review` in a real browser: open, filter, judge 20 pairs by keys, kill the server and go on,
// decide, run again, compare.
//
//   node review.js PROGRAM CHROMIUM [PICTURES]
//
// With PICTURES, writes a picture of each page to this folder. `scripts/browser-test` installs what this needs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
      const id = article === 7 ? `${HOSTILE}${copy}` : `https://host${(article + copy) % 3}.example/page-${article}-${copy}`;
      lines.push(JSON.stringify({ id, text: changed.join(' ') }));
    }
  }
  writeFileSync(join(folder, 'docs.jsonl'), `${lines.join('\n')}\n`);
}

const simtool = (...words) => execFileSync(program, words, { cwd: folder, encoding: 'utf8' });

/** Starts the server, and returns it with the address that it prints. */
async function serve() {
  const server = spawn(program, ['review', 'out', '--quiet'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve) => server.stdout.once('data', (line) => resolve(String(line).trim())));
  return { server, address };
}

/** Returns the elements of a page that end outside of it. */
function widest() {
  const outside = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > window.innerWidth);
  return outside.map((e) => `${e.localName}.${e.className}`).slice(0, 5).join(' ');
}

writeDocuments();
simtool('dedup', 'docs.jsonl', '--similarity', '0.6', '--output', 'out', '--quiet');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const faults = [];
let { server, address } = await serve();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  const outside = [];
  page.on('request', (request) => { if (!/^(data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) outside.push(request.url()); });
  page.on('pageerror', (error) => faults.push(`error on a page: ${error.message}`));
  const isReady = () => page.waitForSelector('.page[data-ready="true"]');

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

  await page.goto(address);
  await look('overview');
  await page.keyboard.press('2');
  await look('rows');
  const shown = () => page.textContent('.page.rows p[role=status]');
  assert.equal(await shown(), '60 removed documents');
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
  await page.keyboard.press('k');
  await page.waitForFunction(() => document.querySelector('.state').textContent.includes('decided: keep this document'));
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('.state')?.textContent.includes('no decision'));
  await page.keyboard.press('3');
  await look('clusters');

  await page.goto(`${address}#/rows?text=onerror`);
  await page.waitForSelector('.row a');
  await page.click('.row a');
  await page.waitForSelector('.pair .text span');
  assert.notEqual(await page.title(), 'hacked');
  assert.equal(await page.locator('main img').count(), 0);

  await page.keyboard.press('4');
  await isReady();
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

  await page.keyboard.press('5');
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
