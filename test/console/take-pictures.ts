/**
 * `npm run pictures`: takes the pictures in docs/console.md. `npm run pictures -- DIRECTORY [NAME]` takes Status in each state
 * (whose name has NAME), at four widths, light and dark, and on paper, to look at.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import prepare from '../support/build-sources.js';
import { startBrowser } from '../support/client-pages.js';
import { closeAll } from '../support/closing.js';
import { ROOT } from '../support/documents.js';
import { hasChromium } from '../support/tools.js';
import { PAGE_STATES, type PageState } from './page-states.js';
import { openPicture, PICTURES } from './pictures.js';

/** Almost an hour: the events of the start are shown too. */
const PAST_MS = 55 * 60_000;
const WIDTHS = [360, 768, 1280, 1920];

prepare();
if (!hasChromium()) throw new Error('npm run pictures needs chromium (apt-get install chromium)');
const browser = await startBrowser();
const [directory, name = ''] = process.argv.slice(2);
if (directory === undefined) await takeDocumented();
else await takeStates(directory, name);
await browser.close();

async function takeDocumented(): Promise<void> {
  for (const [state, pictures] of Map.groupBy(PICTURES, (each) => each.state)) {
    const gateway = await (PAGE_STATES[state] as PageState).arrange(PAST_MS);
    for (const picture of pictures) {
      const page = await openPicture(browser, gateway.url, picture);
      await page.screenshot({ path: join(ROOT, 'docs', `${picture.name}.png`) });
      await page.context().close();
    }
    await closeAll();
  }
}

async function takeStates(folder: string, part: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [state, { arrange }] of Object.entries<PageState>(PAGE_STATES)) {
    if (!state.includes(part)) continue;
    const { url } = await arrange(PAST_MS);
    const pathOf = (kind: string) => join(folder, `${state.replaceAll(' ', '-')}.${kind}.png`);
    const page = await browser.newPage({ reducedMotion: 'reduce' });
    await page.goto(url);
    await page.locator('.hop').nth(5).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: pathOf(`${width}-${colorScheme}`), fullPage: true });
      }
    }
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    await page.setViewportSize({ width: 720, height: 1020 });
    await page.screenshot({ path: pathOf('paper'), fullPage: true });
    await page.close();
    await closeAll();
  }
}
