#!/usr/bin/env node
// Takes a picture of every page as a reader has it: wide and on a phone, light and dark, and in print. Says what overlaps or is cut off.
//
// usage: tools/screenshots.mjs FOLDER PICTURES NAME...     of FOLDER/NAME.html; started by tools/screenshots
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withPage } from './browser.mjs';
import { faults } from '../tests/browser/faults.mjs';

const [, , folder, pictures, ...names] = process.argv;
if (!names.length) {
  console.error('usage: tools/screenshots.mjs FOLDER PICTURES NAME...');
  process.exit(2);
}

// In print a page is as wide as A4 between its margins, at 96 pixels an inch.
const looks = {
  'wide-light': { width: 1280, scheme: 'light' },
  'wide-dark': { width: 1280, scheme: 'dark' },
  'phone-light': { width: 390, height: 844, scheme: 'light' },
  'phone-dark': { width: 390, height: 844, scheme: 'dark' },
  print: { width: 718, media: 'print' },
};
const most = 4200;  // pixels of a page that its picture has; what comes after is folded, or a table

// Small enough to be kept: the wide ones at three quarters of their size.
async function pictureOf(page, width) {
  const height = Math.min(most, await page.evaluate('Math.ceil(document.documentElement.scrollHeight)'));
  const clip = { x: 0, y: 0, width, height, scale: width > 1000 ? 0.75 : 1 };
  const { data } = await page.send('Page.captureScreenshot', { format: 'webp', quality: 18, captureBeyondViewport: true, clip });
  return Buffer.from(data, 'base64');
}

let found = 0;
mkdirSync(pictures, { recursive: true });
await withPage(async page => {
  for (const name of names) {
    for (const [words, look] of Object.entries(looks)) {
      await page.open(pathToFileURL(resolve(folder, name + '.html')).href, look);
      if (look.media === 'print') await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
      await page.until(`!document.querySelector('figure[data-live]') || document.querySelectorAll('figure[data-live]:not([hidden]) svg').length >= 3`);
      const lines = [...page.errors.splice(0), ...await page.evaluate(faults)];
      lines.forEach(line => console.error(`${name}, ${words}: ${line}`));
      found += lines.length;
      const file = join(pictures, `${name}-${words}.webp`);
      writeFileSync(file, await pictureOf(page, look.width));
      console.log(file);
    }
  }
});
process.exit(found ? 1 : 0);
