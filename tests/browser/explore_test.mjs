// The page of `farandole explore` against the program that wrote it; started by tests/browser/explore, which made the
// pages in FARANDOLE_PAGES.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from '../../tools/browser.mjs';
import { differences, isQuick, programsAnswer, randomNumbers, randomPlaces, readPage, scenarioAt } from './explore_kit.mjs';

const folder = process.env.FARANDOLE_PAGES;
const program = process.env.FARANDOLE_PROGRAM;
const files = readdirSync(folder).filter(name => name.endsWith('.explore.html')).map(name => join(folder, name));
const settings = Number(process.env.FARANDOLE_SETTINGS ?? (isQuick ? 16 : 500));
const steps = isQuick ? [1] : [1, 2, 3, 2, 1, 0];  // of a control, from where it was
const moved = new Set();  // where it is to be quick a control is moved on one page alone, but for the ranks

// Equal where the same is refused, or every number is the same but for rounding.
function compare(ours, programs, words) {
  assert.equal(Boolean(ours.error), Boolean(programs.error), `${words}: the page says ${ours.error}, the program ${programs.error}`);
  if (!ours.error) assert.deepEqual(differences(ours.point, programs.point), [], words);
}

const median = values => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
const atPercent = (values, share) => values.slice().sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

// Whether every simulator has answered what it was asked last, and the page has drawn it.
const isSettled = 'simulators !== null && Object.values(simulators).every(simulator => !simulator.asked)';

// Each page is opened once, the first by a link: a browser compiles the simulator anew for each.
files.forEach((file, i) => test(readPage(file).setup.source, { timeout: 900000 }, t => withPage(async page => {
  const { setup } = readPage(file);
  const own = setup.controls.map(control => control.at);
  const mine = Math.ceil(settings / files.length);
  const linked = i === 0 ? setup.controls.find(control => control.id === 'batch') : null;
  const hash = linked ? `#batch=${linked.values[linked.at + 1].text}` : '';
  await page.open('file://' + file + hash);
  const isAnswered = 'times.some(time => time.what === "curve")';
  while (!await page.until(isAnswered)) assert.doesNotMatch(await page.evaluate('statusLine.textContent'), /cannot/);

  if (linked) {
    await t.test('a link has the settings, and brings them back', async () => {
      assert.equal(await page.evaluate(`document.getElementById('knob-batch').value`), String(linked.at + 1));
      assert.equal(await page.evaluate('location.hash'), hash);
      await page.evaluate(`document.getElementById('reset').click()`);
      assert.equal(await page.evaluate('location.hash'), '');
      assert.equal(await page.evaluate(`document.getElementById('knob-batch').value`), String(linked.at));
    });
  }

  await t.test('what is copied is the scenario that was simulated', async () => {
    assert.deepEqual(await page.evaluate(`farandoleScenario(${JSON.stringify(own)})`), setup.scenario);
  });

  await t.test('a move is answered, and its time printed', async () => {
    const moving = setup.controls.filter(({ id }) => !isQuick || id === 'ranks' || !moved.has(id));
    assert.ok(moving.length > 0);
    for (const { id } of moving) {
      moved.add(id);
      const moves = await page.evaluate(`(async () => {
        const moves = [];
        const knob = document.getElementById('knob-${id}');
        const size = knobs.find(knob => knob.id === '${id}').values.length;
        const from = Number(knob.value);
        for (const step of ${JSON.stringify(steps)}) {
          times.length = 0;
          knob.value = (from + step) % size;
          knob.dispatchEvent(new Event('input'));
          while (!(${isSettled})) await new Promise(done => setTimeout(done, 5));
          moves.push({ times: [...times], refused: document.body.classList.contains('refused'), heading: heading.textContent });
        }
        knob.value = from;  // as the next move finds it
        return moves;
      })()`);
      for (const { times, refused, heading } of moves) {
        assert.match(heading, refused ? /^This configuration is refused\.$/ : /samples\/s of /, id);
        assert.deepEqual(['point', 'waterfall'].filter(what => times.some(time => time.what === what)), refused ? [] : ['point', 'waterfall'], id);
      }
      const row = ['point', 'waterfall', 'curve'].map(what => {
        const all = moves.flatMap(move => move.times).filter(time => time.what === what).map(time => time.ms);
        return all.length ? `${what} ${median(all).toFixed(0)} ms (most ${atPercent(all, 1).toFixed(0)})` : `${what} refused`;
      });
      console.log(`${setup.source} ${id}: ${row.join(', ')}`);
    }
  });

  await t.test(`${mine} random settings give the numbers of the program`, async () => {
    const random = randomNumbers(i + 1);
    let refused = 0;
    for (let n = 0; n - refused < mine; ++n) {
      const places = randomPlaces(setup.controls, random);
      const words = setup.controls.map((control, k) => `${control.id}=${control.values[places[k]].text}`).join(' ');
      const scenario = scenarioAt(setup, places);
      assert.deepEqual(await page.evaluate(`farandoleScenario(${JSON.stringify(places)})`), scenario);
      const ours = await page.evaluate(`farandoleAnswer({ scenario: ${JSON.stringify(JSON.stringify(scenario))}, source: 's.json', ask: ['point'] })`);
      const programs = await programsAnswer(program, scenario, 's.json');
      compare(ours, programs, words);
      refused += Boolean(ours.error);
    }
    console.log(`${setup.source}: ${mine} settings agree, ${refused} more are refused by both`);
  });

  await t.test('nothing failed, and the page does not doubt its numbers', async () => {
    assert.equal(await page.evaluate(`document.getElementById('doubt').hidden`), true);
    assert.deepEqual(page.errors, []);
  });
})));
