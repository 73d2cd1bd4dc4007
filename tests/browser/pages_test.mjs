// What a reader may expect of every page; started by tests/browser/run, which made the pages in FARANDOLE_PAGES.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPage } from '../../tools/browser.mjs';

const folder = process.env.FARANDOLE_PAGES;
const pages = ['run', 'collective', 'economics', 'validate'];
const file = name => 'file://' + join(folder, name + '.html');
const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');

const looks = {
  light: { scheme: 'light' },
  dark: { scheme: 'dark' },
  'on a phone': { width: 375, height: 800 },
};

// Empty where the chart of every figure is there, with something in it.
const undrawn = `[...document.querySelectorAll('figure')].filter(figure =>
  !figure.querySelector('svg rect, svg circle, svg path, svg polygon')).map(figure => figure.id)`;

for (const name of pages) {
  for (const [words, look] of Object.entries(looks)) {
    test(`${name}, ${words}: every chart is drawn, nothing fails, nothing is fetched`, () => withPage(async page => {
      await page.open(file(name), look);
      assert.deepEqual(page.errors, []);
      assert.deepEqual(await page.evaluate(undrawn), []);
      assert.ok(await page.evaluate(`document.querySelectorAll('figure[data-chart]').length`) > 0);
      assert.equal(await page.evaluate(`performance.getEntriesByType('resource').length`), 0);
      assert.ok(await page.evaluate(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`), 'wider than the screen');
    }));
  }

  for (const scheme of ['light', 'dark']) {
    test(`${name}, ${scheme}: axe has nothing to say`, () => withPage(async page => {
      await page.open(file(name), { scheme });
      await page.evaluate(axe);
      const found = await page.evaluate(`document.querySelectorAll('details').forEach(d => { d.open = true; }),
        axe.run().then(result => result.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120) + ' ' + n.failureSummary).join('; ')))`);
      assert.deepEqual(found, []);
    }));
  }

  test(`${name}: prints`, () => withPage(async page => {
    await page.open(file(name));
    const pdf = await page.pdf();
    assert.ok(pdf.length > 20000, `${pdf.length} bytes`);
    assert.deepEqual(page.errors, []);
  }));

  test(`${name}: pictures stand by themselves`, () => withPage(async page => {
    await page.open(file(name));
    const pictures = await page.evaluate('farandolePictures()');
    assert.ok(pictures.length > 0);
    for (const { name: picture, svg } of pictures) {
      assert.ok(!svg.includes('var(--'), picture);
      const failed = await page.evaluate(`new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') !== null`);
      assert.equal(failed, false, picture);
    }
  }));
}

test('the answer comes first, as the heading', () => withPage(async page => {
  await page.open(file('run'));
  assert.match(await page.evaluate(`document.querySelector('h1').textContent`), /^On 16 ranks of roce25-4xp100, .*vgg16.* efficiency\.$/);
}));

test('a click on a heading sorts by its numbers, another one the other way round', () => withPage(async page => {
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

test('the pointer on a dot tells its value, and leaving hides it', () => withPage(async page => {
  await page.open(file('run'));
  const spot = await page.evaluate(`(() => { const dot = document.querySelector('#scaling-efficiency circle.stop');
    dot.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = dot.getBoundingClientRect(); return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`);
  await page.moveTo(spot.x, spot.y);
  assert.match(await page.until(`document.querySelector('#tip.shown')?.textContent`), /1 ranks\s+100.% of linear scaling/);
  await page.moveTo(1, 1);
  assert.ok(await page.until(`document.querySelector('#tip.shown') === null`));
}));

test('arrow keys step through the values of a chart', () => withPage(async page => {
  await page.open(file('run'));
  await page.evaluate(`document.querySelector('#why-2-waterfall-2 svg, [id^=why] svg').focus()`);
  await page.key('ArrowRight');
  assert.match(await page.until(`document.getElementById('tip').textContent`), /^device/);
  await page.key('ArrowRight');
  assert.ok(await page.until(`!document.getElementById('tip').textContent.startsWith('device')`));
  await page.key('Escape');
  assert.ok(await page.until(`document.getElementById('tip').textContent === ''`));
}));

test('the CSV has a line for every point', () => withPage(async page => {
  await page.open(file('run'));
  const csv = await page.evaluate(`JSON.parse(document.getElementById('csv').textContent)`);
  assert.equal(csv.trim().split('\n').length, 7);
  assert.match(csv, /^model,variant,ranks/);
  assert.equal(await page.evaluate(`document.querySelectorAll('#table .download').length`), 1);
}));

test('labels of curves do not cover one another', () => withPage(async page => {
  await page.open(file('run'));
  const heights = await page.evaluate(`[...document.querySelectorAll('#scaling-efficiency .label')].map(label => label.getBoundingClientRect().y)`);
  assert.equal(heights.length, 2);
  assert.ok(Math.abs(heights[0] - heights[1]) >= 12, String(heights));
}));

// The rule: errors in order are dots in order, all of them within the axis, and none where another error is.
test('every error has its own place on the axis, however large it is', () => withPage(async page => {
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

test('on a phone the legend has every part that is drawn', () => withPage(async page => {
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

test('sixteen curves have a label each, and none covers another', () => withPage(async page => {
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

test('a minimum charge does not squash the chart of costs', () => withPage(async page => {
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
