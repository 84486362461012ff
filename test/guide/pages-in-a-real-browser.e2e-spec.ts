import AxeBuilder from '@axe-core/playwright';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/client-pages.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { hasChromium } from '../support/tools.js';

const describeWithChromium = hasChromium() ? describe : describe.skip;

describeWithChromium('axe finds no violation', () => {
  let browser: Browser;
  let gateway: Gateway;
  beforeAll(async () => {
    browser = await startBrowser();
    gateway = await startGateway(await start());
  });
  afterAll(async () => {
    await browser.close();
  });

  async function violationsOf(path: string, colorScheme: 'light' | 'dark', width: number): Promise<string[]> {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    try {
      const page = await context.newPage();
      await page.goto(`${gateway.url}${path}`);
      const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 80)).join(' | ')}`);
    } finally {
      await context.close();
    }
  }

  it.each([
    ['/docs'],
    ['/problems'],
    ['/problems/bank-error'],
    ['/docs/guide'],
    ['/docs/guide/concepts'],
    ['/docs/guide/health-and-metrics'],
  ])('in %s, light and dark, on a wide screen and on a phone', async (path) => {
    expect(await violationsOf(path, 'light', 1440)).toEqual([]);
    expect(await violationsOf(path, 'dark', 360)).toEqual([]);
  });
});
