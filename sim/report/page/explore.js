// The page of `farandole explore`: settings to turn, and the simulator itself, compiled to WebAssembly, in workers.

const setup = data.explore;
const live = new Map([...document.querySelectorAll('figure[data-live]')].map(figure => [figure.dataset.key, figure]));
const knobs = setup.controls.map(control => ({ ...control, input: document.getElementById('knob-' + control.id), shown: document.getElementById('shown-' + control.id) }));
const chosen = () => knobs.map(knob => Number(knob.input.value));

// The scenario with these settings: what is computed, and what "copy as scenario" copies.
function put(root, pointer, value) {
  const keys = pointer.split('/').slice(1).map(key => key.replace(/~1/g, '/').replace(/~0/g, '~'));
  const last = keys.pop();
  const parent = keys.reduce((at, key) => at[key] ?? (at[key] = {}), root);
  if (value === null) delete parent[last];
  else parent[last] = value;
}

function scenarioAt(places) {
  const scenario = structuredClone(setup.scenario);
  knobs.forEach((knob, i) => Object.entries(knob.values[places[i]].set).forEach(([pointer, value]) => put(scenario, pointer, value)));
  return scenario;
}

// One simulator: answers one question at a time; of those that wait only the newest is asked.
class Simulator {
  constructor(module, received) {
    const script = document.getElementById('simulator').textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
    this.worker.onmessage = ({ data: answer }) => this.receive(answer);
    this.worker.postMessage({ module, files: setup.files, folder: setup.folder });
    this.received = received;
  }

  ask(question) {
    if (this.asked) return void (this.next = question);
    this.asked = question;
    this.worker.postMessage(question.text);
  }

  receive(text) {
    const { asked, next } = this;
    this.asked = this.next = null;
    if (next) this.ask(next);
    this.received(JSON.parse(text), asked);
  }
}

async function unpacked() {
  const packed = Uint8Array.from(atob(document.getElementById('module').textContent.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

const statusLine = document.getElementById('status');
const heading = document.querySelector('h1');
const times = window.farandoleTimes = [];  // milliseconds from a setting to what it changes, for the tests

function drawLive(key, value) {
  const figure = live.get(key);
  figure.hidden = !value;
  if (!value) return;
  data[key] = value;
  charts[figure.dataset.live](new Chart(figure));
}

function took(asked, what) {
  const ms = performance.now() - asked.since;
  times.push({ what, ms });
  if (what === 'point') statusLine.textContent = `Simulated and drawn in ${ms < 9.5 ? ms.toFixed(1) : Math.round(ms)} ms, in this page.`;
}

function showPoint(answer, asked) {
  if (answer.error) {
    heading.textContent = 'This configuration is refused.';
    statusLine.textContent = answer.error;
    document.body.classList.add('refused');
    return;
  }
  document.body.classList.remove('refused');
  const point = answer.point;
  const scale = point.ranks > 1 ? ` at ${percent(point.scaling_efficiency)} scaling efficiency` : '';
  heading.textContent = `${grouped(point.ranks)} ${point.ranks === 1 ? 'rank trains' : 'ranks train'} ${grouped(point.samples_per_second)} samples/s of ${point.model}${scale}.`;
  drawLive('timeline', answer.timeline);
  took(asked, 'point');
}

// Some ten runs with one mechanism after another switched off: asked apart, so that the answer need not wait for it.
function showWaterfall(answer, asked) {
  if (answer.error) return;
  drawLive('waterfall', answer.waterfall);
  took(asked, 'waterfall');
}

let remembered = null;  // the curve of the settings that the page began with, for comparison

function showCurve(answer, asked) {
  if (answer.error || answer.curve.length < 2) return;
  const rows = name => curve => curve.map(([ranks, efficiency]) => ({ series: name, x: ranks, y: efficiency }));
  if (asked.isFirst) remembered = answer.curve;
  const isChanged = remembered && JSON.stringify(remembered) !== JSON.stringify(answer.curve);
  drawLive('curve', { axis: 'ranks', measure: 'scaling_efficiency', unit: 'of linear scaling', share: true, marks: [], accent: 'now',
    rows: (isChanged ? rows('at first')(remembered) : []).concat(rows('now')(answer.curve)) });
  took(asked, 'curve');
}

// The state is in the address: "#ranks=64&batch=32", of what was changed only.
function stateOf(places) {
  const changed = knobs.map((knob, i) => [knob.id, places[i], knob.at]).filter(([, place, at]) => place !== at);
  return changed.map(([id, place]) => `${id}=${encodeURIComponent(knobs.find(knob => knob.id === id).values[place].text)}`).join('&');
}

// What is no state of ours is none at all.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function readState() {
  const wanted = new Map(location.hash.slice(1).split('&').map(part => part.split('=').map(decoded)));
  knobs.forEach(knob => {
    const place = knob.values.findIndex(value => value.text === wanted.get(knob.id));
    knob.input.value = place < 0 ? knob.at : place;
  });
}

function showKnobs(places) {
  knobs.forEach((knob, i) => {
    const text = knob.values[places[i]].text;
    if (knob.shown) knob.shown.textContent = text;
    if (knob.shown) knob.input.setAttribute('aria-valuetext', text);
    knob.input.closest('.knob').classList.toggle('changed', places[i] !== knob.at);
  });
}

let simulators = null;
let asksFirst = true;

function change() {
  const places = chosen();
  showKnobs(places);
  history.replaceState(null, '', '#' + stateOf(places));
  if (!simulators) return;
  const since = performance.now();
  const scenario = JSON.stringify(scenarioAt(places));
  const source = setup.source;
  simulators.point.ask({ since, text: JSON.stringify({ scenario, source, ask: ['point', 'timeline'] }) });
  simulators.waterfall.ask({ since, text: JSON.stringify({ scenario, source, ask: ['point', 'waterfall'] }) });
  simulators.curve.ask({ since, isFirst: asksFirst, text: JSON.stringify({ scenario, source, ranks: setup.ranks }) });
}

// The page begins with the scenario's own settings, whatever its address says, so that the first curve is theirs.
function begin(module) {
  const isClose = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b);
  const first = new Simulator(module, answer => {
    const differs = answer.error || Object.entries(setup.expected).some(([key, value]) => !isClose(answer.point[key], value));
    if (differs) document.getElementById('doubt').hidden = false;
    first.worker.terminate();
  });
  const own = JSON.stringify(scenarioAt(knobs.map(knob => knob.at)));
  first.ask({ text: JSON.stringify({ scenario: own, source: setup.source, ask: ['point'] }) });
  simulators = { point: new Simulator(module, showPoint), waterfall: new Simulator(module, showWaterfall), curve: new Simulator(module, showCurve) };
  simulators.curve.ask({ since: performance.now(), isFirst: true, text: JSON.stringify({ scenario: own, source: setup.source, ranks: setup.ranks }) });
  asksFirst = false;
  readState();
  change();
}

// One question and its answer, past all that is drawn; for the tests.
window.farandoleAnswer = question => new Promise((resolve, reject) => {
  const simulator = window.farandoleAside ?? (window.farandoleAside = new Simulator(window.farandoleModule, () => {}));
  simulator.received = resolve;
  simulator.ask({ text: JSON.stringify(question) });
});
window.farandoleScenario = scenarioAt;

function copy(button, text) {
  const done = () => {
    const before = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = before; }, 1200);
  };
  const show = () => {
    const area = document.getElementById('copied');
    area.hidden = false;
    area.value = text;
    area.select();
  };
  navigator.clipboard ? navigator.clipboard.writeText(text).then(done, show) : show();
}

document.getElementById('copy-scenario').addEventListener('click', event => copy(event.target, JSON.stringify(scenarioAt(chosen()), null, 2) + '\n'));
document.getElementById('copy-link').addEventListener('click', event => copy(event.target, location.href));
document.getElementById('reset').addEventListener('click', () => { knobs.forEach(knob => { knob.input.value = knob.at; }); change(); });
knobs.forEach(knob => knob.input.addEventListener('input', change));
window.addEventListener('hashchange', () => { readState(); change(); });
window.addEventListener('resize', () => live.forEach((figure, key) => { if (data[key] && !figure.hidden) drawLive(key, data[key]); }));
readState();
showKnobs(chosen());
unpacked().then(module => { window.farandoleModule = module; begin(module); },
  error => { statusLine.textContent = `This browser cannot run the simulator: ${error.message}`; });
