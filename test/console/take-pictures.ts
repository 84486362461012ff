/** `npm run pictures`: makes the pictures of docs/console.md. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import prepare from '../support/build-sources.js';
import { startBrowser } from '../support/client-pages.js';
import { closeAll } from '../support/closing.js';
import { hasChromium } from '../support/tools.js';
import { PAGE_STATES, type PageState } from './page-states.js';

interface Picture {
  readonly name: string;
  readonly state: keyof typeof PAGE_STATES;
  readonly size: readonly [width: number, height: number];
  readonly colorScheme?: 'light' | 'dark';
  readonly show?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'console', state: 'all is well', size: [1280, 860] },
  { name: 'console-copy', state: 'the bank fails', size: [1280, 560] },
  { name: 'console-failing', state: 'the copy has expired', size: [1280, 560] },
  { name: 'console-certificate', state: 'the certificate ends in 3 days', size: [1280, 390] },
  {
    name: 'console-account',
    state: 'all is well',
    size: [1440, 900],
    show: async (page) => {
      await page.locator('.open-account').nth(2).click();
      await page.locator('.facts').waitFor();
      await page.evaluate(`document.getElementById('accounts').scrollIntoView()`);
    },
  },
  { name: 'console-phone', state: 'the bank fails', size: [360, 740], colorScheme: 'dark' },
];

prepare();
if (!hasChromium()) throw new Error('npm run pictures needs chromium (apt-get install chromium)');
const browser = await startBrowser();
for (const [state, pictures] of Map.groupBy(PICTURES, (each) => each.state)) {
  const gateway = await (PAGE_STATES[state] as PageState).arrange(true);
  for (const { name, size, colorScheme, show } of pictures) {
    const context = await browser.newContext({
      viewport: { width: size[0], height: size[1] },
      colorScheme: colorScheme ?? 'light',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto(`${gateway.url}/?sort=-current`);
    for (const part of ['.totals :is(td, p)', '.minutes', '.events li', '.accounts[aria-busy=false], .notice']) {
      await page.locator(part).first().waitFor();
    }
    await show?.(page);
    await page.screenshot({ path: join('docs', `${name}.png`) });
    await context.close();
  }
  await closeAll();
}
await browser.close();
