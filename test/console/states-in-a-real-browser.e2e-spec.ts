import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/client-pages.js';
import { hasChromium } from '../support/tools.js';
import { axeFaultsOf, layoutOf, openPage, pathOf } from './open-page.js';
import { PAGE_STATES, type PageState } from './page-states.js';

const suite = hasChromium() ? describe : describe.skip;

const FULL = process.env['FULL'] === '1';
/** States in which axe looks at every component of the page, in light and dark; with FULL=1 it looks at all states. */
const OF_ALL_COMPONENTS = new Set<string>([
  'all is well in the sandbox',
  'the bank fails',
  'the copy has expired',
  'the certificate ends in 3 days',
  'the first refresh has not ended',
  'names are hostile and amounts long',
] satisfies (keyof typeof PAGE_STATES)[]);

suite('Status in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each(Object.entries<PageState>(PAGE_STATES))(
    'when %s: its sentence is the first thing, on one screen, and nothing is cut off at any width',
    async (name, { arrange, sentence, path }) => {
      const gateway = await arrange();
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
      const { page, wrongs } = await openPage(context, gateway.url);
      await page.locator('.incident, .well').waitFor();
      expect(await page.getByRole('heading').first().innerText()).toMatch(sentence);
      expect(await pathOf(page)).toEqual(path);
      if (FULL || OF_ALL_COMPONENTS.has(name)) {
        expect(await axeFaultsOf(page)).toEqual([]);
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await axeFaultsOf(page, ['color-contrast'])).toEqual([]);
      }
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
      for (const width of [360, 768, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect((await layoutOf(page)).width).toBe(width);
      }
      expect(wrongs).toEqual([]);
      await context.close();
    },
  );
});
