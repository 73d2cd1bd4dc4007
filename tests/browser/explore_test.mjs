// The page of `farandole explore` against the program that wrote it; started by tests/browser/explore, which made the
// pages in FARANDOLE_PAGES.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from '../../tools/browser.mjs';
import { differences, programsAnswer, randomNumbers, randomPlaces, readPage, scenarioAt } from './explore_kit.mjs';

const folder = process.env.FARANDOLE_PAGES;
const program = process.env.FARANDOLE_PROGRAM;
const files = readdirSync(folder).filter(name => name.endsWith('.explore.html')).map(name => join(folder, name));
const settings = Number(process.env.FARANDOLE_SETTINGS ?? 500);

// Equal where the same is refused, or every number is the same but for rounding.
function compare(ours, programs, words) {
  assert.equal(Boolean(ours.error), Boolean(programs.error), `${words}: the page says ${ours.error}, the program ${programs.error}`);
  if (!ours.error) assert.deepEqual(differences(ours.point, programs.point), [], words);
}

const median = values => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
const atPercent = (values, share) => values.slice().sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

files.forEach((file, i) => {
  const { setup } = readPage(file);
  const mine = Math.ceil(settings / files.length);

  test(`${setup.source}: ${mine} random settings give the numbers of the program`, { timeout: 600000 }, () => withPage(async page => {
    await page.open('file://' + file);
    assert.ok(await page.until('times.some(time => time.what === "curve")'), 'the page never answered');
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
    assert.deepEqual(page.errors, []);
  }));

  test(`${setup.source}: a move is answered in the time of a glance`, { timeout: 120000 }, () => withPage(async page => {
    await page.open('file://' + file);
    assert.ok(await page.until('times.some(time => time.what === "curve")'));
    for (const { id } of setup.controls) {
      await page.evaluate(`(async () => {
        times.length = 0;
        const knob = document.getElementById('knob-${id}');
        const from = Number(knob.value);
        for (const step of [1, 2, 3, 2, 1, 0]) {
          const size = knobs.find(knob => knob.id === '${id}').values.length;
          knob.value = (from + step) % size;
          const before = times.length;
          knob.dispatchEvent(new Event('input'));
          for (let wait = 0; wait < 200 && times.length < before + 3; ++wait) await new Promise(done => setTimeout(done, 10));
        }
      })()`);
      const times = await page.evaluate('times');
      const row = ['point', 'waterfall', 'curve'].map(what => {
        const all = times.filter(time => time.what === what).map(time => time.ms);
        return all.length ? `${what} ${median(all).toFixed(0)} ms (most ${atPercent(all, 1).toFixed(0)})` : `${what} refused`;
      });
      console.log(`${setup.source} ${id}: ${row.join(', ')}`);
    }
    assert.deepEqual(page.errors, []);
  }));
});

test('a link has the settings, and brings them back', () => withPage(async page => {
  const { setup } = readPage(files[0]);
  const control = setup.controls.find(control => control.id === 'batch');
  const place = control.at + 1;
  await page.open(`file://${files[0]}#batch=${control.values[place].text}`);
  assert.ok(await page.until('times.some(time => time.what === "point")'));
  assert.equal(await page.evaluate(`document.getElementById('knob-batch').value`), String(place));
  assert.equal(await page.evaluate('location.hash'), `#batch=${control.values[place].text}`);
  await page.evaluate(`document.getElementById('reset').click()`);
  assert.equal(await page.evaluate('location.hash'), '');
}));

test('what is copied is the scenario that was simulated', () => withPage(async page => {
  const { setup } = readPage(files[0]);
  await page.open('file://' + files[0]);
  assert.ok(await page.until('times.some(time => time.what === "point")'));
  const places = setup.controls.map(control => control.at);
  assert.deepEqual(await page.evaluate(`farandoleScenario(${JSON.stringify(places)})`), setup.scenario);
  assert.equal(await page.evaluate(`document.getElementById('doubt').hidden`), true);
}));
