// What a reader meets, in which order and how far down; started by tests/browser/run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withKeptPage } from '../../tools/browser.mjs';
import { faults } from './faults.mjs';
import { file } from './pages_kit.mjs';

const sections = `[...document.querySelectorAll('main section')].map(section => ({ id: section.id, folded: section.closest('#details') !== null }))`;

for (const [name, first] of [['run', 'scaling'], ['economics', 'cost'], ['goodput', 'whole-run'], ['learning', 'learning']]) {
  test(`${name} opens with what its heading speaks of, then the reason and how sure; the rest is folded`, () => withKeptPage(async page => {
    await page.open(file(name));
    const found = await page.evaluate(sections);
    assert.equal(found[0].id, first);
    const at = id => found.findIndex(section => section.id.startsWith(id));
    const open = found.filter(section => !section.folded).map(section => section.id.replace(/-[0-9]+$/, '-'));
    const reasons = name === 'economics' ? [] : ['scaling', 'why-'];  // the reasons of costs are with them
    assert.deepEqual(open, [...new Set([first, ...reasons, 'trust'])]);
    for (const id of ['throughput', 'time', 'timeline', 'network', 'table', 'inputs']) assert.ok(found[at(id)].folded, id);
  }));
}

test('the reason that is open is of the point that the answer explains', () => withKeptPage(async page => {
  for (const name of ['run', 'economics']) {
    await page.open(file(name));
    const [lede, heading] = await page.evaluate(`[document.querySelector('.lede').textContent, document.querySelector('[id^=why-] h2').textContent]`);
    const [, subject] = /The largest loss of (.*?) is /.exec(lede);
    assert.ok(heading.startsWith(`Why: ${subject}`), heading);
  }
}));

test('a link to a folded section opens it', () => withKeptPage(async page => {
  await page.open(file('run') + '#timeline');
  assert.ok(await page.until(`document.querySelector('#timeline > details').open`));
  await page.evaluate(`location.hash = '#table'`);
  assert.ok(await page.until(`document.querySelector('#table > details').open`));
}));

test('no two curves of a chart have one colour, and each label has that of its curve', () => withKeptPage(async page => {
  for (const [name, figure] of [['economics', '#cost-years'], ['run', '#scaling-efficiency'], ['learning', '#learning-learning']]) {
    await page.open(file(name));
    const [lines, labels] = await page.evaluate(`[[...document.querySelectorAll('${figure} path[stroke-width]')].map(path => path.getAttribute('stroke')),
      [...document.querySelectorAll('${figure} .label')].map(label => label.getAttribute('fill'))]`);
    assert.equal(new Set(lines).size, lines.length, lines.join());
    assert.deepEqual(labels.sort(), lines.sort());
  }
}));

test('curves over ranks have the line of linear scaling, and published results their names', () => withKeptPage(async page => {
  await page.open(file('run') + '#throughput');
  const drawn = await page.evaluate(`['#scaling-efficiency', '#throughput-throughput'].map(figure => ({
    lines: document.querySelectorAll(figure + ' line.linear').length, texts: [...document.querySelectorAll(figure + ' text.note')].map(text => text.textContent) }))`);
  for (const { lines, texts } of drawn) {
    assert.equal(lines, 1);
    assert.ok(texts.some(text => text.startsWith('horovod-2017')), texts.join());
  }
}));

test('shares are drawn over a linear axis from nothing to all', () => withKeptPage(async page => {
  for (const name of ['run', 'learning']) {
    await page.open(file(name));
    const ticks = await page.evaluate(`[...[...document.querySelectorAll('#scaling-efficiency .axis')][1].querySelectorAll('.tick')].map(tick =>
      ({ share: Number.parseFloat(tick.textContent), y: tick.getBoundingClientRect().y }))`);
    assert.deepEqual(ticks.map(tick => tick.share), [0, 20, 40, 60, 80, 100], name);
    const steps = ticks.slice(1).map((tick, i) => ticks[i].y - tick.y);
    assert.ok(steps.every(step => step > 10 && Math.abs(step - steps[0]) < 0.1), steps.join());
  }
}));

test('what a library picks by size is one curve', () => withKeptPage(async page => {
  await page.open(file('collective-2'));
  const [curves, sizes, picked] = await page.evaluate(`[document.querySelectorAll('#sizes-bandwidth path[stroke-width]').length,
    document.querySelectorAll('#sizes-bandwidth circle').length, new Set([...document.querySelectorAll('#table tbody tr')].map(row => row.cells[0].textContent)).size]`);
  assert.ok(picked > 1, String(picked));
  assert.deepEqual([curves, sizes], [1, 5]);
}));

test('microseconds have their sign, but for values that are set as text', () => withKeptPage(async page => {
  for (const name of ['learning', 'collective', 'validate']) {
    await page.open(file(name));
    const texts = await page.evaluate(`[...document.querySelectorAll('h1, main p, figcaption, #table th, svg text, .lede')].map(each => each.textContent)`);
    assert.deepEqual(texts.filter(text => /([0-9]\s|\(| in )us\b/.test(text)), []);
    assert.ok(texts.some(text => /[0-9(]\s?µs/.test(text)), name);
  }
}));

test('collectives of any size are in one row of the iteration, and have the accent', () => withKeptPage(async page => {
  await page.open(file('sharded') + '#timeline');
  const [names, sizes, fills] = await page.evaluate(`[[...document.querySelectorAll('#timeline-timeline svg > g > text')].map(text => text.textContent),
    new Set(data.timeline.rows.map(row => row.activity).filter(name => /allgather/i.test(name))).size,
    [...new Set([...document.querySelectorAll('#timeline-timeline rect.stop[fill="var(--accent)"]')].map(bar => Math.round(bar.getBoundingClientRect().y)))].length]`);
  assert.ok(sizes > 1);
  assert.equal(names.filter(name => name === 'allgather').length, 1, names.join());
  assert.equal(fills, 2);  // rows: allgather, reduce scatter
}));

test('in print the headings of wide tables break between words alone', () => withKeptPage(async page => {
  for (const name of ['run', 'sharded', 'goodput']) {
    await page.open(file(name), { width: 718, media: 'print' });
    const broken = await page.evaluate(`(unfold(document, Infinity), [...document.querySelectorAll('#table th')].flatMap(th => {
      const node = document.createTreeWalker(th, NodeFilter.SHOW_TEXT).nextNode();
      return [...node.data.matchAll(/\\S+/g)].filter(word => {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
      }).map(word => word[0]);
    }))`);
    assert.deepEqual(broken, [], name);
  }
}));

// The rule: rows with the text, and of those the ones that are more than a tenth off.
test('a long table is searched, and shows only what is far off', () => withKeptPage(async page => {
  await page.open(file('validate'));
  const set = (selector, change) => page.evaluate(`(() => { const input = document.querySelector('#table .find ${selector}'); ${change}; input.dispatchEvent(new Event('input')); })()`);
  const rows = () => page.evaluate(`[...document.querySelectorAll('#table tbody tr')].filter(row => !row.hidden).map(row => ({ text: row.textContent, error: Number(row.cells[5].dataset.value) }))`);
  const all = await rows();
  assert.ok(all.length > 12);
  await set('[type=search]', `input.value = 'Allreduce'`);
  const some = await rows();
  assert.deepEqual(some, all.filter(row => row.text.toLowerCase().includes('allreduce')));
  assert.ok(some.length > 0 && some.length < all.length, String(some.length));
  await set('[type=search]', `input.value = ''`);
  await set('[type=checkbox]', 'input.checked = true');
  assert.deepEqual(await rows(), all.filter(row => Math.abs(row.error) > 0.1));
}));

test('a chart of changes leaves out what is less than half a point', () => withKeptPage(async page => {
  await page.open(file('run'));
  const points = await page.evaluate(`Object.entries(data).filter(([key]) => key.startsWith('what-if')).flatMap(([, value]) => value.rows.map(row => row.points))`);
  assert.ok(points.length > 0 && points.every(value => Math.abs(value) >= 0.5), points.join());
}));

// Twenty-fold and more: a linear axis would draw the quickest run as a wall.
test('losses over times that differ much are over a logarithmic axis', () => withKeptPage(async page => {
  await page.open(file('learning'));
  const places = await page.evaluate(`[...document.querySelectorAll('#learning-learning path[stroke-width]')].map(path => path.getBBox().width)`);
  assert.ok(Math.min(...places) > 0.1 * Math.max(...places), places.join());
}));

test('a scatter of less than a decade has ticks to be read by on both axes', () => withKeptPage(async page => {
  for (const width of [1280, 390]) {
    await page.open(file('run'), { width });
    const ticks = await page.evaluate(`[...document.querySelectorAll('#trust-trust .axis')].map(axis => axis.querySelectorAll('.tick').length)`);
    assert.ok(ticks.length === 2 && ticks.every(count => count >= (width < 500 ? 2 : 3)), ticks.join());
  }
}));

test('one series stands out in all charts of costs', () => withKeptPage(async page => {
  await page.open(file('economics'));
  assert.equal(await page.evaluate('data.years.accent'), await page.evaluate('data.cost.accent'));
}));

test('whatever the range of a scatter, its ticks are inside the picture and do not overlap', () => withKeptPage(async page => {
  for (const width of [1280, 390]) {
    await page.open(file('run'), { width });
    for (let range = 1.05; range < 1e6; range *= 1.37) {
      await page.evaluate(`data.trust.rows = [0.41, ${0.41 * range}].map(time => ({ family: 'f', row: 'r', predicted: time, measured: time, error: 0 })), draw(document.querySelector('[data-chart=scatter]'))`);
      assert.deepEqual(await page.evaluate(faults), [], `${range} at ${width}`);
    }
  }
}));
