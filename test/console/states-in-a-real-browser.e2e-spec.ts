import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/client-pages.js';
import { hasChromium } from '../support/tools.js';
import { axeFaultsOf, layoutOf, openPage, pathOf } from './open-page.js';
import { PAGE_STATES, type PageState } from './page-states.js';

const suite = hasChromium() ? describe : describe.skip;

suite('Status in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each(Object.entries<PageState>(PAGE_STATES))(
    'when %s: its sentence is the first thing, on one screen, without axe violations in light and dark, at any width',
    async (_name, { arrange, sentence, path }) => {
      const gateway = await arrange();
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
      const { page, wrongs } = await openPage(context, gateway.url);
      await page.locator('.incident, .well').waitFor();
      expect(await page.getByRole('heading').first().innerText()).toMatch(sentence);
      expect(await pathOf(page)).toEqual(path);
      expect(await axeFaultsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axeFaultsOf(page, ['color-contrast'])).toEqual([]);
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
