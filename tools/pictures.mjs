#!/usr/bin/env node
// Writes every picture of a page as SVG and PNG files, for a paper or a README.
//
// usage: tools/pictures.mjs PAGE.html FOLDER [NAME.svg|NAME.png|NAME...]     only these; needs Node.js and Chromium
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , file, folder, ...wanted] = process.argv;
if (!folder) {
  console.error('usage: tools/pictures.mjs PAGE.html FOLDER [NAME...]');
  process.exit(2);
}
const { withPage } = await import(new URL('browser.mjs', import.meta.url));

async function pngOf(page, svg) {
  await page.open('data:text/html;charset=utf-8,' + encodeURIComponent(`<!DOCTYPE html><body style="margin:0;display:inline-block;line-height:0">${svg}`), { scale: 2 });
  const [width, height] = await page.evaluate(`(() => { const box = document.querySelector('svg').getBoundingClientRect(); return [box.width, box.height]; })()`);
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  const { data } = await page.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
  return Buffer.from(data, 'base64');
}

await withPage(async page => {
  await page.open(pathToFileURL(resolve(file)).href, { width: 900 });
  const pictures = await page.evaluate('farandolePictures()');
  const names = pictures.map(picture => picture.name);
  const unknown = wanted.filter(name => !names.includes(name.replace(/\.(svg|png)$/, '')));
  if (unknown.length) throw new Error(`no picture ${unknown.join(', ')} in ${file}; there are ${names.join(', ')}`);
  mkdirSync(folder, { recursive: true });
  for (const { name, svg } of pictures) {
    for (const kind of ['.svg', '.png']) {
      if (wanted.length && !wanted.includes(name) && !wanted.includes(name + kind)) continue;
      writeFileSync(join(folder, name + kind), kind === '.svg' ? svg + '\n' : await pngOf(page, svg));
      console.log(join(folder, name + kind));
    }
  }
}).catch(error => {
  console.error(error.message);
  process.exit(1);
});
