import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../support/documents.js';
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
  { name: 'console', state: 'all is well in the sandbox', size: [1280, 800] },
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

/** The words in the pictures, recorded next to them: a test compares them with the current pages. */
export const WORDS_FILE = join(ROOT, 'docs/console-pictures.txt');

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

/** Parts whose words depend on the moment, the machine or the account, not on the page's wording. */
const CHANGING =
  '.gateway, .clock, .timer strong, .cause .quiet, .now, tbody, dd, .events, .half .between > p, .scale, .path, .well';

/**
 * The words on the page, each text once, as a section of the file. Digits are 0, and each month is Jan. The date before
 * a time is omitted, because only times on another day have one.
 */
export async function wordsOf(page: Page, { name }: Picture): Promise<string> {
  const texts = await page.evaluate<string[]>(`
    [...document.querySelectorAll('body *')]
      .filter((each) => !each.closest('${CHANGING}') && each.checkVisibility())
      .flatMap((each) => [...each.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE))
      .map(({ data }) => data.trim().replaceAll(/\\d+/g, '0').replaceAll(/\\s+/g, ' '))`);
  const months = /\b(?:Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b/g;
  const undated = texts.map((text) => text.replaceAll(months, 'Jan').replaceAll('0 Jan, 0:0', '0:0'));
  const words = [...new Set(undated)].filter((text) => /\p{L}/u.test(text));
  return `# ${name}.png\n${words.join('\n')}\n`;
}
