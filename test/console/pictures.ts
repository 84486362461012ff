import type { Browser, Page } from 'playwright-core';
import type { PAGE_STATES } from './page-states.js';

/** A picture of docs/console.md. */
export interface Picture {
  readonly name: string;
  readonly state: keyof typeof PAGE_STATES;
  /** The path of the page; Status without one. */
  readonly path?: string;
  readonly size: readonly [width: number, height: number];
  readonly colorScheme?: 'light' | 'dark';
  readonly show?: (page: Page) => Promise<void>;
}

export const PICTURES: readonly Picture[] = [
  { name: 'console', state: 'all is well in the sandbox', size: [1280, 745] },
  { name: 'console-copy', state: 'the bank fails', size: [1280, 800] },
  { name: 'console-phone', state: 'the bank fails', size: [360, 740], colorScheme: 'dark' },
  {
    name: 'console-account',
    state: 'all is well in the sandbox',
    path: 'accounts?q=nordlys&status=Active&sort=-current',
    size: [1280, 760],
    show: async (page) => {
      await page.locator('.open-account').nth(2).click();
      await page.locator('.facts').waitFor();
      await page.evaluate(`document.getElementById('accounts').scrollIntoView()`);
    },
  },
];

/** The page of a picture, in the state of the picture. */
export async function openPicture(browser: Browser, url: string, picture: Picture): Promise<Page> {
  const { path = '', size, colorScheme = 'light', show } = picture;
  const context = await browser.newContext({
    viewport: { width: size[0], height: size[1] },
    deviceScaleFactor: 2,
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.goto(`${url}/${path}`);
  const parts = path === '' ? ['.apps tbody tr', '.events li'] : ['.accounts[aria-busy=false]', '.totals td'];
  for (const part of parts) await page.locator(part).first().waitFor();
  await page.locator('.environment').getByText(/./).waitFor();
  await show?.(page);
  return page;
}
