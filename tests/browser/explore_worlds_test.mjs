// What pages of `farandole explore` answer on every machine and every scenario that is shipped, against the program: the page's own
// worker, without a browser. Started by tests/browser/explore.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compiledModule, differences, isQuick, programsAnswer, randomNumbers, randomPlaces, readPage, scenarioAt } from './explore_kit.mjs';

const folder = process.env.FARANDOLE_PAGES;
const program = process.env.FARANDOLE_PROGRAM;
const worlds = process.env.FARANDOLE_WORLDS.split(' ');  // machines, scenarios
const namesIn = kind => readdirSync(kind).filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length));

// A job that every machine takes; one of processors or without a device of its own gets one.
const jobOn = (topology, ranks, override) => ({
  name: topology,
  workload: { model: 'resnet50', batch_per_rank: 8 },
  platform: { topology, ranks, ...override },
  strategy: { kind: 'horovod' },
  measure: { iterations: 3, warmup: 1 },
});

// With ten thousand nodes the page, the worker and the program take a second or more for each answer, for each builds the machine:
// where it is to be quick, these are fewer groups of the same nodes and cables.
const fewer = isQuick ? {
  aurora: { '/nodes': 10 * 64, '/network/groups': 10 },
  frontier: { '/nodes': 10 * 128, '/network/groups': 10 },
} : {};

// { page } or { said }
function explored(name, scenario) {
  const file = typeof scenario === 'string' ? scenario : join(folder, name + '.json');
  if (file !== scenario) writeFileSync(file, JSON.stringify(scenario));
  const html = join(folder, name + '.world.html');
  const done = spawnSync(program, ['explore', file, '--quiet', '--html', html], { encoding: 'utf8' });
  if (done.status !== 0) return { said: done.stderr };
  const page = readPage(html);
  rmSync(html);
  return { page };
}

// The worker of a page, which says what it posts.
async function simulatorOf(page) {
  const { setup, script } = page;
  let answered;
  const self = { location: { href: '' }, postMessage: text => answered(JSON.parse(text)) };
  new Function('self', 'importScripts', 'process', script)(self, () => {}, undefined);  // as in a browser's worker
  self.onmessage({ data: { module: await compiledModule(page), files: setup.files, folder: setup.folder } });
  return question => new Promise(resolve => {
    answered = resolve;
    self.onmessage({ data: JSON.stringify(question) });
  });
}

async function agrees(page, isAtRandomToo = true) {
  const ask = await simulatorOf(page);
  const { setup } = page;
  const random = randomNumbers(1);
  const own = setup.controls.map(control => control.at);
  for (const places of isAtRandomToo ? [own, randomPlaces(setup.controls, random)] : [own]) {
    const scenario = scenarioAt(setup, places);
    const ours = await ask({ scenario: JSON.stringify(scenario), source: 's.json', ask: ['point'] });
    const programs = await programsAnswer(program, scenario, 's.json');
    assert.equal(Boolean(ours.error), Boolean(programs.error), `the page says ${ours.error}, the program ${programs.error}`);
    if (!ours.error) assert.deepEqual(differences(ours.point, programs.point), [], JSON.stringify(scenario));
  }
}

// One job on all of them, of which random settings are turned in explore_test.mjs and, of a job each, below.
for (const topology of worlds.includes('machines') ? namesIn('topologies') : []) {
  test(`${topology}: a page has the numbers of the program`, async () => {
    const smaller = fewer[topology] ? { override: fewer[topology] } : {};
    const ways = [[16, smaller], [2, {}], [16, { override: { '/node/device': 'v100' } }], [2, { override: { '/node/device': 'v100' } }]];
    let last;
    for (const [ranks, override] of ways) {
      last = explored(topology, jobOn(topology, ranks, override));
      if (last.page) return agrees(last.page, !isQuick);
    }
    assert.fail(last.said);
  });
}

for (const scenario of worlds.includes('scenarios') ? namesIn('scenarios') : []) {
  test(`${scenario}: a page has the numbers of the program`, async () => {
    const { page, said } = explored(scenario, `scenarios/${scenario}.json`);
    if (page) return agrees(page);
    assert.match(said, /\/optimise: expected no search in a scenario to explore/);
  });
}
