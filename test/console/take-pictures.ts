/** `npm run pictures`: takes the pictures in docs/console.md. */
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

prepare();
if (!hasChromium()) throw new Error('npm run pictures needs chromium (apt-get install chromium)');
const browser = await startBrowser();
for (const [state, pictures] of Map.groupBy(PICTURES, (each) => each.state)) {
  const gateway = await (PAGE_STATES[state] as PageState).arrange(PAST_MS);
  for (const picture of pictures) {
    const page = await openPicture(browser, gateway.url, picture);
    await page.screenshot({ path: join(ROOT, 'docs', `${picture.name}.png`) });
    await page.context().close();
  }
  await closeAll();
}
await browser.close();
