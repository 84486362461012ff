import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { ProblemEntry } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';
import { toIncident, type Incident } from '../../src/pages/console/web/status/incident.js';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import { Clock } from '../../src/time/clock.js';
import { openWindow, startBrowser } from '../support/client-pages.js';
import type { Answer, Gateway } from '../support/gateway.js';
import type { MovedClock } from '../support/moved-clock.js';
import { hasChromium } from '../support/tools.js';
import { axeFaultsOf, layoutOf, openPage, pathOf } from './open-page.js';
import { PAGE_STATES, type PageState } from './page-states.js';

/** States that axe checks too, which together cover every component of the page. With FULL=1 it checks all states. */
const EXAMINED = new Set<string>([
  'all is well in the sandbox',
  'the bank fails',
  'the copy has expired',
  'the certificate ends in 3 days',
  'no app has called for a while',
  'an app gets only rejections',
  'names are hostile and amounts long',
] satisfies (keyof typeof PAGE_STATES)[]);

/** The result of a call, in the page's words. */
function toGot({ status, json }: Answer): Incident['served'] {
  if (status !== 200) return 'none';
  if (json.page.total === 0) return 'empty';
  return json.snapshot.stale ? 'copy' : 'current';
}

/** How far the wall clock and the monotonic clock of a machine may drift apart while a test runs. */
const DRIFT_MS = 100;

/** Asserts that calls fail from the time shown on the page. */
async function assertEndsAt({ end, status }: Incident, { app, get }: Gateway): Promise<void> {
  const clock = app.get(Clock) as MovedClock;
  clock.stop();
  clock.advance(Date.parse(end ?? '') - clock.now().wall - DRIFT_MS);
  expect(app.get(SnapshotService).status().servable).toBe(true);
  clock.advance(2 * DRIFT_MS);
  expect((await get('/api/v1/accounts')).status).toBe(status);
}

/** Asserts that the card matches the result of a call at that moment, and that calls fail at the time that it shows. */
async function assertTrue(gateway: Gateway, { owner }: PageState, card: string): Promise<void> {
  expect(card).not.toMatch(/undefined|null|NaN|Invalid|\{when\}/);
  const health = (await gateway.get('/health')).json as Health;
  const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
  const incident = toIncident(health, Date.now(), problems, null);
  expect(incident?.cause.owner).toBe(owner);
  // a call would wait for a refresh that never ends in this scene
  if (incident?.served === 'waiting') return;
  const call = await gateway.get('/api/v1/accounts', { accept: 'application/json' });
  // while the bank is slow, some calls get current data
  const served = incident?.served ?? 'current';
  expect(served === 'copies' ? ['copy', 'current'] : [served]).toContain(toGot(call));
  if (call.status === 200) expect(call.json.page.total).toBe(health.details.snapshot.accounts);
  if (!incident) return;
  if (served === 'none') expect([call.status, call.json.code]).toEqual([incident.status, incident.cause.code]);
  if (incident.copy)
    expect(incident.copy).toMatchObject({ asOf: call.json.snapshot.asOf, expiresAt: call.json.snapshot.expiresAt });
  if (incident.end !== null && incident.end === health.details.snapshot.expiresAt)
    await assertEndsAt(incident, gateway);
}

/** The texts of the card that must not break, but take more than one line: the attempts, the next one, and the code. */
const brokenOf = (page: Page) =>
  page
    .locator('.cause .quiet > *')
    .evaluateAll((all) => all.filter((each) => each.getClientRects().length > 1).map((each) => each.textContent));

/**
 * Asserts that a browser shows the card's sentence first, all of it on one screen, and cuts nothing off at any width.
 * Returns the card's text.
 */
async function show(page: Page, { sentence, path }: PageState, isExamined: boolean): Promise<string> {
  await page.locator('.incident, .well, .idle').waitFor();
  expect(await page.getByRole('heading').first().innerText()).toMatch(sentence);
  expect(await pathOf(page)).toEqual(path);
  const card = await page.locator('.incident, .well, .idle').innerText();
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
  if (isExamined) {
    expect(await axeFaultsOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFaultsOf(page, ['color-contrast'])).toEqual([]);
  }
  for (const width of [360, 768, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    expect((await layoutOf(page)).width).toBe(width);
    expect(await brokenOf(page)).toEqual([]);
  }
  return card;
}

/** Asserts that Check now shows the result of a call. */
async function assertChecked(page: Page, gateway: Gateway): Promise<void> {
  await page.getByRole('button', { name: 'Check now' }).click();
  await page
    .getByText(/^Checked at|^All calls/)
    .first()
    .waitFor();
  const text = await page.locator('.incident, .idle').innerText();
  const { status } = await gateway.get('/api/v1/accounts');
  expect(text).toMatch(status === 200 ? /: a call gets current data, \d+ accounts, in / : `fail with ${status}`);
}

(hasChromium() ? describe : describe.skip)('Status', () => {
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    browser = await startBrowser();
    context = await openWindow(browser, { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  });
  afterAll(() => browser.close());

  it.each(Object.entries<PageState>(PAGE_STATES))(
    'says first what apps get, on one screen, cuts nothing off, and says nothing untrue when %s',
    async (name, state) => {
      const gateway = await state.arrange();
      const { page, wrongs } = await openPage(context, gateway.url);
      const card = await show(page, state, EXAMINED.has(name) || process.env['FULL'] === '1');
      // a call would end the silence
      if ((await page.locator('.idle').count()) === 0) await assertTrue(gateway, state, card);
      if (card.includes('Check now')) await assertChecked(page, gateway);
      expect(wrongs).toEqual([]);
      await page.close();
    },
  );
});
