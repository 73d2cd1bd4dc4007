// What a reader may expect of every page; started by tests/browser/run, which made the pages in FARANDOLE_PAGES.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withKeptPage } from '../../tools/browser.mjs';
import { faults } from './faults.mjs';
import { axe, everyText, file, isDrawn, pages, undrawn, violations } from './pages_kit.mjs';

const most = 4000;  // pixels of a page before the reader unfolds anything
const looks = {
  'wide, light': { width: 1280, height: 844, scheme: 'light' },
  'wide, dark': { width: 1280, height: 844, scheme: 'dark' },
  'on a phone, light': { width: 390, height: 844, scheme: 'light' },
  'on a phone, dark': { width: 390, height: 844, scheme: 'dark' },
};

for (const name of pages) {
  test(name, t => withKeptPage(async page => {
    for (const [words, look] of Object.entries(looks)) {
      // What is dark differs by its colours alone: the page that is open is shown so. The slow test opens it anew.
      const isOpen = look.scheme === 'dark' && !everyText;
      if (isOpen) await page.show(look);
      else await page.open(file(name), look);
      await page.until(isDrawn);
      await t.test(`${words}: every chart is drawn, nothing fails, nothing is fetched`, async () => {
        assert.equal(await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`), look.scheme === 'dark');
        assert.deepEqual(page.errors.splice(0), []);
        assert.deepEqual(await page.evaluate(undrawn), []);
        assert.ok(await page.evaluate(`document.querySelectorAll('figure').length`) > 0);
        assert.deepEqual(await page.evaluate(`performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('blob:'))`), []);
      });
      if (!isOpen) {
        await t.test(`${words}: no text overlaps, is cut off, squeezed or too small`, async () => {
          assert.deepEqual(await page.evaluate(faults), []);
        });
        await t.test(`${words}: it is read within ${most} pixels, what is folded aside`, async () => {
          const height = await page.evaluate('document.documentElement.scrollHeight');
          assert.ok(height <= most, `${height} pixels at a width of ${look.width}`);
        });
        await page.evaluate(axe);
      }
      await t.test(`${words}: axe has nothing to say`, async () => {
        assert.deepEqual(await page.evaluate(violations(isOpen ? 'of colours' : 'all')), []);
      });
      await t.test(`${words}: no text overlaps or is cut off in tables that were folded`, async () => {
        assert.deepEqual(await page.evaluate(faults), []);
      });
    }

    await page.open(file(name), { width: 718, media: 'print' });
    await page.until(isDrawn);
    await t.test('in print no text overlaps or is cut off', async () => {
      await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
      assert.deepEqual(await page.evaluate(faults), []);
    });

    await t.test('prints', async () => {
      const pdf = await page.pdf();
      assert.ok(pdf.length > 10000, `${pdf.length} bytes`);
      assert.deepEqual(page.errors, []);
    });

    await t.test('pictures stand by themselves', async () => {
      const pictures = await page.evaluate('farandolePictures()');
      assert.ok(pictures.length > 0);
      for (const { name: picture, svg } of pictures) {
        assert.ok(!svg.includes('var(--'), picture);
        const failed = await page.evaluate(`new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') !== null`);
        assert.equal(failed, false, picture);
      }
    });
  }));
}
