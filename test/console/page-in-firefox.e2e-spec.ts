import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'puppeteer-core';
import { Clock } from '../../src/time/clock.js';
import { startFirefox } from '../support/client-pages.js';
import { startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { hasFirefox } from '../support/tools.js';

/**
 * Boxes of the header in CSS pixels, and its lines. Firefox reserves space for the scroll bar, so the page is narrower.
 */
const MEASURE = `(() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const [bar, top, clock] = [box('#sandbox'), box('.top'), box('.clock')];
  const lines = clock.height / parseFloat(getComputedStyle(document.querySelector('.clock')).lineHeight);
  return {
    isOneLine: Math.round(lines) === 1 && bar.height < 40,
    gap: Math.round(bar.top + top.top - bar.bottom),
    isCut: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
})()`;

(hasFirefox() ? describe : describe.skip)('the pages in Firefox', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startFirefox();
  });
  afterAll(() => browser.close());

  it('have a bar and a clock on one line, nothing cut off and no error, wide and at 360 px', async () => {
    const bank = await start();
    const gateway = await startGateway(bank, {}, new Clock(), bank.control);
    const page = await browser.newPage();
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    for (const [path, shown] of [
      ['/', '.path'],
      ['/accounts', '.open-account'],
    ] as const) {
      for (const width of [1280, 360]) {
        await page.setViewport({ width, height: 800 });
        await page.goto(`${gateway.url}${path}`);
        await page.waitForSelector(shown);
        await page.waitForSelector('.menu summary');
        expect([path, width, await page.evaluate(MEASURE)]).toEqual([
          path,
          width,
          { isOneLine: true, gap: 0, isCut: false },
        ]);
      }
    }
    expect(errors).toEqual([]);
  });
});
