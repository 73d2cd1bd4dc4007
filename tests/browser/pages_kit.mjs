// What the tests of pages share: where these are, whether they are drawn, and what axe says of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const folder = process.env.FARANDOLE_PAGES;
export const pages = process.env.FARANDOLE_PAGE_NAMES.split(' ');  // of every kind: tests/browser/make_pages
export const file = name => 'file://' + join(folder, name + '.html');
export const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');

// Empty where the chart of every figure is there, with something in it.
export const undrawn = `[...document.querySelectorAll('figure')].filter(figure =>
  !figure.querySelector('svg rect, svg circle, svg path, svg polygon')).map(figure => figure.id)`;
// The charts of `farandole explore` come when its simulator has answered.
export const isDrawn = `!document.querySelector('figure[data-live]') || document.querySelectorAll('figure[data-live]:not([hidden]) svg').length >= 3`;
// Contrast takes axe most of its time: it is asked of one text of each colour, size and backgrounds, of all in the slow test.
export const everyText = process.env.FARANDOLE_EVERY_TEXT === '1';
const texts = `(() => {
  const kinds = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const own = getComputedStyle(element), backgrounds = [];
    for (let at = element; at; at = at.parentElement) backgrounds.push(getComputedStyle(at).backgroundColor, getComputedStyle(at).opacity);
    const kind = [own.color, own.fill, own.fontSize, own.fontWeight, element instanceof SVGElement, ...backgrounds].join();
    if (!kinds.has(kind)) kinds.set(kind, element);
  }
  return [...kinds.values()];
})()`;
// Without a word on all that passes, of which axe would say as much as of what fails.
export const violations = (rules = 'all') => `(async () => {
  document.querySelectorAll('details').forEach(d => { d.open = true; });
  const contrast = 'color-contrast', resultTypes = ['violations'];
  const results = ${everyText} ? [await axe.run({ resultTypes })] : [await axe.run({ include: ${texts} }, { runOnly: [contrast], resultTypes })];
  if (!${everyText} && '${rules}' === 'all') results.push(await axe.run({ rules: { [contrast]: { enabled: false } }, resultTypes }));
  return results.flatMap(result => result.violations).map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120) + ' ' + n.failureSummary).join('; '));
})()`;
