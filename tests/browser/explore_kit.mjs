// What the tests of `farandole explore` share: a page's data, random settings, and the program's own answers.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const text = (html, id) => html.match(new RegExp(`<script type="[^"]*" id="${id}">([^]*?)</script>`))[1];

// `module`: as it stands in the page, packed.
export function readPage(file) {
  const html = readFileSync(file, 'utf8');
  return { setup: JSON.parse(text(html, 'data')).explore, script: text(html, 'simulator'), module: text(html, 'module') };
}

const compiled = new Map();  // the same in all pages: it is compiled once

export function compiledModule({ module }) {
  if (!compiled.has(module)) compiled.set(module, WebAssembly.compile(gunzipSync(Buffer.from(module, 'base64'))));
  return compiled.get(module);
}

// browser/explore-whole, slow, leaves nothing out.
export const isQuick = process.env.FARANDOLE_QUICK === '1';

// The same numbers every time (Numerical Recipes' generator).
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

export const randomPlaces = (controls, random) => controls.map(control => Math.floor(random() * control.values.length));

// As the page does it, written once more.
export function scenarioAt(setup, places) {
  const scenario = structuredClone(setup.scenario);
  setup.controls.forEach((control, i) => Object.entries(control.values[places[i]].set).forEach(([pointer, value]) => {
    const keys = pointer.slice(1).split('/').map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    let at = scenario;
    keys.slice(0, -1).forEach(key => { at = at[key] ??= {}; });
    if (value === null) delete at[keys.at(-1)];
    else at[keys.at(-1)] = value;
  }));
  return scenario;
}

// { point } or { error }, of `farandole run`.
export function programsAnswer(program, scenario, name) {
  const file = join(mkdtempSync(join(tmpdir(), 'farandole-explore-')), name);
  writeFileSync(file, JSON.stringify(scenario));
  return new Promise(resolve => {
    const child = spawn(program, ['run', file, '--quiet', '--jobs', '1', '--network', 'own', '--format', 'json']);
    const out = [], err = [];
    child.stdout.on('data', part => out.push(part));
    child.stderr.on('data', part => err.push(part));
    child.on('close', status => resolve(status === 0 ? { point: JSON.parse(Buffer.concat(out)).points[0] } : { error: Buffer.concat(err).toString() }));
  });
}

// Where two answers differ by more than rounding: [path, one, other].
export function differences(one, other, path = '') {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other)) + 1e-15 ? [] : [[path, one, other]];
  }
  if (one && other && typeof one === 'object' && typeof other === 'object') {
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap(key => differences(one[key], other[key], `${path}/${key}`));
  }
  return one === other ? [] : [[path, one, other]];
}
