// What charts, tables and players of pages do when they are asked; started by tests/browser/run.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withKeptPage } from '../../tools/browser.mjs';
import { faults } from './faults.mjs';
import { axe, file, folder, isDrawn, pages, undrawn, violations } from './pages_kit.mjs';

test('a picture by itself says what it shows, and its labels have the colours of their curves', () => withKeptPage(async page => {
  await page.open(file('economics'));
  const svg = (await page.evaluate('farandolePictures()')).find(picture => picture.name === 'cost-years').svg;
  await page.open('data:text/html;charset=utf-8,' + encodeURIComponent(svg));
  const colours = (elements, property) => page.evaluate(`[...document.querySelectorAll('${elements}')].map(each => getComputedStyle(each).${property}).sort()`);
  assert.deepEqual(await colours('.label', 'fill'), await colours('path[stroke-width]', 'stroke'));
  assert.match(await page.evaluate(`document.querySelector('svg').textContent`), /Cumulative cost of ownership over years, in USD/);
  assert.deepEqual(await page.evaluate(faults), []);
}));

// Debian has D3 5, npm the newest; cmake takes either.
test('the newest D3 draws every chart as well', () => withKeptPage(async page => {
  const newest = readFileSync(join(folder, 'node_modules/d3/dist/d3.min.js'), 'utf8');
  mkdirSync(join(folder, 'newest'), { recursive: true });
  for (const name of pages.filter(each => each !== 'topology')) {
    const text = readFileSync(join(folder, name + '.html'), 'utf8').replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
    const from = text.indexOf('// https://d3js.org');
    assert.ok(from > 0, name);
    writeFileSync(join(folder, 'newest', name + '.html'), text.slice(0, from) + newest + text.slice(text.indexOf('</script>', from)));
    await page.open(file('newest/' + name));
    await page.until(isDrawn);
    await page.evaluate('unfold(document, Infinity), figures.forEach(draw)');
    assert.deepEqual(page.errors.splice(0), [], name);
    assert.deepEqual(await page.evaluate(undrawn), [], name);
    assert.deepEqual(await page.evaluate(faults), [], name);
  }
}));

// What the check of boxes finds: each of the four faults, put into a page on purpose.
test('a text that overlaps, leaves its picture, is squeezed or is too small is found', () => withKeptPage(async page => {
  await page.open(file('run'), { width: 1280 });
  const add = attributes => page.evaluate(`(() => { const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    text.textContent = 'put here'; Object.entries(${JSON.stringify(attributes)}).forEach(([name, value]) => text.setAttribute(name, value));
    document.querySelector('#scaling-efficiency svg').append(text); })()`);
  const found = async () => (await page.evaluate(faults)).filter(line => line.includes('put here'));
  for (const [attributes, words] of [[{ x: -60, y: 200 }, 'reaches past its picture'], [{ x: 300, y: 200, textLength: 20, lengthAdjust: 'spacingAndGlyphs' }, 'squeezed'],
    [{ x: 300, y: 200, style: 'font-size:6px' }, '6.0 pixels']]) {
    await add(attributes);
    assert.match((await found()).join(), new RegExp(words));
    await page.evaluate(`document.querySelector('#scaling-efficiency svg').lastChild.remove()`);
  }
  await add({ x: 300, y: 200 });
  assert.deepEqual(await found(), []);
  await add({ x: 310, y: 204 });
  assert.match((await found()).join(), /lies over/);
}));

// What axe finds though it is asked of one text of each kind: a single pale one among hundreds.
test('a text that is too pale is found', () => withKeptPage(async page => {
  await page.open(file('run'), { width: 1280 });
  await page.evaluate(axe);
  await page.evaluate(`document.querySelector('#table tbody tr:last-child td').style.color = '#bbb'`);
  assert.match((await page.evaluate(violations())).join(), /^color-contrast: <td/);
}));

// The rule of the ring: after n-1 rounds every rank has one whole sum, after 2(n-1) all of them.
test('the stepper goes round by round, by buttons, slider and on its own', () => withKeptPage(async page => {
  await page.open(file('algorithm'), { width: 1280 });
  const press = words => page.evaluate(`[...document.querySelectorAll('.player button')].find(button => button.textContent === '${words}').click()`);
  const state = () => page.evaluate(`({ prose: document.querySelector('.prose').textContent,
    whole: [...document.querySelectorAll('#steps-steps svg text')].filter(text => text.textContent === 'all').length })`);
  assert.match((await state()).prose, /^At the start every rank has its own contribution\. Whole sums in 0 of 16 cells\.$/);
  await press('Next');
  assert.match((await state()).prose, /^Round 1 of 6, reduce scatter\. Reduce-scatter: .* Every rank sends one segment to the next rank, which adds it\./);
  await page.evaluate(`(() => { const slider = document.querySelector('.player input'); slider.value = 3; slider.dispatchEvent(new Event('input')); })()`);
  assert.equal((await state()).whole, 4);
  assert.match((await state()).prose, /Whole sums in 4 of 16 cells/);
  await page.evaluate(`figures[0].player.pause = () => 20`);
  await press('Play');
  assert.ok(await page.until(`document.querySelector('.player input').value === '6' && document.querySelector('.player button:nth-child(2)').textContent === 'Play'`));
  assert.equal((await state()).whole, 16);
}));

test('one iteration is played, and says what begins', () => withKeptPage(async page => {
  await page.open(file('run'), { width: 1280 });
  const click = `document.querySelectorAll('#timeline-timeline .player button')[2].click()`;
  const prose = () => page.evaluate(`document.querySelector('#timeline-timeline .prose').textContent`);
  const first = await prose();
  assert.match(first, /^0\.0 ms: .*forward backward/);
  await page.evaluate(click);
  assert.notEqual(await prose(), first);
  await page.evaluate(`(() => { const slider = document.querySelector('#timeline-timeline input'); slider.value = slider.max; slider.dispatchEvent(new Event('input')); })()`);
  assert.match(await prose(), /the iteration ends\.$/);
}));

test('a run says how to explore it, and links to the page that lies beside it', () => withKeptPage(async page => {
  await page.open(file('run'));
  const section = await page.evaluate(`({ text: document.querySelector('#explore pre').textContent, link: document.querySelector('#explore a')?.getAttribute('href') ?? null })`);
  assert.match(section.text, /^farandole explore scenarios\/horovod-512-roce25\.json .*--html .*run\.explore\.html$/);
  assert.equal(section.link, pages.includes('run.explore') ? './run.explore.html' : null);
}));

test('the answer comes first, as the heading', () => withKeptPage(async page => {
  await page.open(file('run'));
  assert.match(await page.evaluate(`document.querySelector('h1').textContent`), /^On 16 ranks of roce25-4xp100, .*vgg16.* efficiency\.$/);
}));

test('a click on a heading sorts by its numbers, another one the other way round', () => withKeptPage(async page => {
  await page.open(file('run'));
  const column = await page.evaluate(`[...document.querySelectorAll('#table thead th')].findIndex(th => th.textContent.startsWith('samples/s'))`);
  const click = `document.querySelectorAll('#table thead th button')[${column}].click()`;
  const values = `[...document.querySelectorAll('#table tbody tr')].map(row => Number(row.cells[${column}].dataset.value))`;
  await page.evaluate(click);
  const rising = await page.evaluate(values);
  assert.equal(rising.length, 6);
  assert.deepEqual(rising, rising.slice().sort((a, b) => a - b));
  assert.equal(await page.evaluate(`document.querySelectorAll('#table thead th')[${column}].getAttribute('aria-sort')`), 'ascending');
  await page.evaluate(click);
  assert.deepEqual(await page.evaluate(values), rising.slice().reverse());
}));

test('the pointer on a dot tells its value, and leaving hides it', () => withKeptPage(async page => {
  await page.open(file('run'));
  const spot = await page.evaluate(`(() => { const dot = document.querySelector('#scaling-efficiency circle.stop');
    dot.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = dot.getBoundingClientRect(); return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`);
  await page.moveTo(spot.x, spot.y);
  assert.match(await page.until(`document.querySelector('#tip.shown')?.textContent`), /1 rank\s+100.% of linear scaling/);
  await page.moveTo(1, 1);
  assert.ok(await page.until(`document.querySelector('#tip.shown') === null`));
}));

test('arrow keys step through the values of a chart', () => withKeptPage(async page => {
  await page.open(file('run'));
  await page.evaluate(`document.querySelector('#why-2-waterfall-2 svg, [id^=why] svg').focus()`);
  await page.key('ArrowRight');
  assert.match(await page.until(`document.getElementById('tip').textContent`), /^device/);
  await page.key('ArrowRight');
  assert.ok(await page.until(`!document.getElementById('tip').textContent.startsWith('device')`));
  await page.key('Escape');
  assert.ok(await page.until(`document.getElementById('tip').textContent === ''`));
}));

test('the CSV has a line for every point', () => withKeptPage(async page => {
  await page.open(file('run'));
  const csv = await page.evaluate(`JSON.parse(document.getElementById('csv').textContent)`);
  assert.equal(csv.trim().split('\n').length, 7);
  assert.match(csv, /^model,variant,ranks/);
  assert.equal(await page.evaluate(`document.querySelectorAll('#table .download').length`), 1);
}));

test('labels of curves do not cover one another', () => withKeptPage(async page => {
  await page.open(file('run'));
  const heights = await page.evaluate(`[...document.querySelectorAll('#scaling-efficiency .label')].map(label => label.getBoundingClientRect().y)`);
  assert.equal(heights.length, 2);
  assert.ok(Math.abs(heights[0] - heights[1]) >= 12, String(heights));
}));

// The rule: errors in order are dots in order, all of them within the axis, and none where another error is.
test('every error has its own place on the axis, however large it is', () => withKeptPage(async page => {
  await page.open(file('validate'));
  const dots = await page.evaluate(`(() => {
    data.errors.rows.push({ family: 'far', row: 'out', bytes: 1024, error: 5.789 }, { family: 'farther', row: 'out', bytes: 1024, error: 42 });
    const figure = document.querySelector('[data-chart=errors]');
    draw(figure);
    const box = figure.querySelector('svg').getBoundingClientRect();
    return [...figure.querySelectorAll('circle')].map((dot, i) => ({ error: data.errors.rows[i].error,
      y: dot.getBoundingClientRect().y, inside: dot.getBoundingClientRect().y >= box.y && dot.getBoundingClientRect().bottom <= box.bottom }));
  })()`);
  assert.ok(dots.length > 10);
  assert.ok(dots.every(dot => dot.inside));
  const sorted = dots.slice().sort((a, b) => a.error - b.error);
  sorted.slice(1).forEach((dot, i) => assert.ok(dot.y <= sorted[i].y + 0.01, `${dot.error} is not above ${sorted[i].error}`));
  const [largest, next, clamped] = sorted.slice(-3).reverse();
  assert.ok(largest.y < next.y - 10 && next.y < clamped.y, JSON.stringify([largest, next, clamped]));
}));

test('on a phone the legend has every part that is drawn', () => withKeptPage(async page => {
  await page.open(file('run'), { width: 375, height: 800 });
  const [fills, legend, isInside] = await page.evaluate(`(() => {
    const svg = document.querySelector('[data-chart=shares] svg');
    const fills = new Set([...svg.querySelectorAll('rect.stop')].map(bar => bar.getAttribute('fill')));
    const keys = [...svg.querySelectorAll('.legend rect')].map(key => key.getAttribute('fill'));
    const right = document.documentElement.clientWidth;
    return [[...fills].sort(), [...new Set(keys)].sort(), [...svg.querySelectorAll('.legend text')].every(t => t.getBoundingClientRect().right <= right)];
  })()`);
  assert.deepEqual(legend, fills);
  assert.ok(isInside);
}));

test('sixteen curves have a label each, and none covers another', () => withKeptPage(async page => {
  await page.open(file('run'));
  const heights = await page.evaluate(`(() => {
    const spec = data.efficiency;
    spec.rows = [...Array(16).keys()].flatMap(i => [1, 4, 16].map(x => ({ series: 'curve ' + i, x, y: 1 - i * x / 1000 })));
    const figure = document.querySelector('#scaling-efficiency');
    draw(figure);
    return [...figure.querySelectorAll('.label')].map(label => label.getBoundingClientRect().y).sort((a, b) => a - b);
  })()`);
  assert.equal(heights.length, 16);
  heights.slice(1).forEach((y, i) => assert.ok(y - heights[i] >= 11, String(heights)));
}));

test('a minimum charge does not squash the chart of costs', () => withKeptPage(async page => {
  await page.open(file('economics'));
  assert.match(await page.evaluate(`document.querySelector('header').textContent + document.querySelector('.lede').textContent`), /Cheapest is .*\s+With the minimum that is charged, a single run is .* for resnet50 \(8 p4d in a capacity block\)\./);
  const widths = await page.evaluate(`[...document.querySelectorAll('[data-chart=bars][data-key=cost] rect.stop')].map(bar => bar.getBoundingClientRect().width)`);
  assert.ok(Math.min(...widths) > 0.1 * Math.max(...widths), String(widths));
}));

test('Markdown has the same answer and tables', () => {
  const text = readFileSync(join(folder, 'run.md'), 'utf8');
  assert.match(text, /\*\*On 16 ranks of roce25-4xp100/);
  assert.match(text, /\| model \| ranks \|/);
});
