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
  /** The path of the page; Status without one. */
  readonly path?: string;
  readonly size: readonly [width: number, height: number];
  readonly colorScheme?: 'light' | 'dark';
  readonly show?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'console', state: 'all is well', size: [1280, 500] },
  { name: 'console-copy', state: 'the bank fails', size: [1280, 690] },
  { name: 'console-phone', state: 'the bank fails', size: [360, 740], colorScheme: 'dark' },
  {
    name: 'console-account',
    state: 'all is well',
    path: 'accounts?q=nordlys&sort=-current',
    size: [1440, 900],
    show: async (page) => {
      await page.locator('.open-account').nth(2).click();
      await page.locator('.facts').waitFor();
      await page.evaluate(`document.getElementById('accounts').scrollIntoView()`);
    },
  },
];

prepare();
if (!hasChromium()) throw new Error('npm run pictures needs chromium (apt-get install chromium)');
const browser = await startBrowser();
for (const [state, pictures] of Map.groupBy(PICTURES, (each) => each.state)) {
  const gateway = await (PAGE_STATES[state] as PageState).arrange(true);
  for (const { name, path = '', size, colorScheme, show } of pictures) {
    const context = await browser.newContext({
      viewport: { width: size[0], height: size[1] },
      colorScheme: colorScheme ?? 'light',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${path}`);
    await page
      .locator(path === '' ? '.apps tbody tr' : '.accounts[aria-busy=false]')
      .first()
      .waitFor();
    await page
      .locator(path === '' ? '.events li' : '.totals td')
      .first()
      .waitFor();
    await show?.(page);
    await page.screenshot({ path: join('docs', `${name}.png`) });
    await context.close();
  }
  await closeAll();
}
await browser.close();
