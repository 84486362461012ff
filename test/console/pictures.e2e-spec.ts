import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/client-pages.js';
import { hasChromium } from '../support/tools.js';
import { PAGE_STATES, type PageState } from './page-states.js';
import { openPicture, PICTURES, WORDS_FILE, wordsOf } from './pictures.js';

/** Enough for a row in each table, ms. The pictures have more, with the same words. */
const PAST_MS = 60_000;

const suite = hasChromium() ? describe : describe.skip;

suite('the pictures of docs/console.md', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each([...Map.groupBy(PICTURES, ({ state }) => state)])(
    'have the current words when %s; if this fails, check what changed, then run npm run pictures',
    async (state, pictures) => {
      const sections = readFileSync(WORDS_FILE, 'utf8').split(/\n(?=# )/);
      const gateway = await (PAGE_STATES[state] as PageState).arrange(PAST_MS);
      for (const picture of pictures) {
        const page = await openPicture(browser, gateway.url, picture);
        const recorded = sections.find((section) => section.startsWith(`# ${picture.name}.png\n`));
        expect(`${recorded?.trimEnd()}\n`).toBe(await wordsOf(page, picture));
        await page.context().close();
      }
    },
    180_000,
  );
});
