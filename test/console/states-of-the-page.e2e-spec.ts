import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { ProblemEntry, Recent } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';
import { toActive, toWellText } from '../../src/pages/console/web/status/apps.js';
import { toEffect } from '../../src/pages/console/web/status/effect.js';
import { toCauseText, toTimer } from '../../src/pages/console/web/status/cause-text.js';
import { toIdle, toIdleText } from '../../src/pages/console/web/status/idle.js';
import { toIncident, type Incident } from '../../src/pages/console/web/status/incident.js';
import { toNote, toReport } from '../../src/pages/console/web/status/report.js';
import { toPath } from '../../src/pages/console/web/status/path.js';
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

/** Every text of the incident on the page, and the texts to copy. */
function textsOf(incident: Incident, health: Health, now: number): string[] {
  const { what, answer, since, meaning } = toCauseText(incident.cause, health, now);
  const timer = toTimer(incident, now);
  return [
    incident.headline,
    `${what}${answer}${since} ${meaning}`,
    timer ? `${timer.value} ${timer.label}` : '',
    incident.doNow,
    Object.values(incident.who).join(' '),
    toEffect(incident, health, [], now),
    toNote(incident, health, now),
    toReport(incident, health, now),
    ...toPath(health, null, now)
      .map(({ value }) => value)
      // end of the token's use, and time of the last read of the list
      .filter((value) => !/^token|ms, |^answers, /.test(value)),
  ];
}

const timesIn = (text: string): string[] => text.match(/\b\d\d:\d\d:\d\d\b/g) ?? [];
const toTime = (at: string | number): string => new Date(at).toISOString().slice(11, 19);
/** The statuses of calls according to a text: "fail with 503", "get 502", "with status 200". */
const statusesIn = (text: string): number[] =>
  [...text.matchAll(/\b(?:fails?(?:ed)? with|gets?|with status) (\d{3})\b/g)].map(([, status]) => Number(status));

/** The times of the facts on the page. */
function factsOf({ details: { bank, certificate, snapshot, token } }: Health, now: number): string[] {
  const facts = [
    bank.failingSince,
    bank.listFailingSince,
    token.failingSince,
    token.lastSuccessAt,
    bank.slow?.since,
    bank.lastSuccessAt,
    bank.lastError?.at,
    certificate.notAfter,
    snapshot.asOf,
    snapshot.expiresAt,
    now,
  ];
  return facts.filter((at) => at !== null && at !== undefined).map(toTime);
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

/**
 * Asserts that every sentence on the page, and every text to copy, matches the result of a call at that moment, and
 * that path and owner are right. `card`: the card as shown by a browser.
 */
async function assertTrue(gateway: Gateway, { sentence, path, owner }: PageState, card: string): Promise<void> {
  const health = (await gateway.get('/health')).json as Health;
  const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
  const recent = (await gateway.get('/health/recent')).json as Recent;
  const now = Date.now();
  const idle = toIdle(health, recent, now);
  const incident = idle ? null : toIncident(health, now, problems, recent);
  const headline = idle
    ? toIdleText(idle, health, recent, problems, now).headline
    : (incident?.headline ?? toWellText(health, toActive(recent), now));
  expect(headline).toMatch(sentence);
  expect(incident?.cause.owner).toBe(owner);
  expect(toPath(health, recent, now).map(({ level }) => level)).toEqual(path);
  const texts = [card, ...(incident ? textsOf(incident, health, now) : [])];
  const facts = factsOf(health, now);
  for (const text of texts) {
    expect(text).not.toMatch(/undefined|null|NaN|Invalid|\{when\}| {3,}\n/);
    expect(timesIn(text).filter((time) => !facts.includes(time))).toEqual([]);
  }
  if (incident?.served === 'waiting') {
    // a call would wait for the refresh, which never ends in this scene
    expect(gateway.app.get(SnapshotService).status()).toMatchObject({
      servable: false,
      slowSince: expect.any(String),
    });
    return;
  }
  if (idle) return;
  const call = await gateway.get('/api/v1/accounts', { accept: 'application/json' });
  const served = incident?.served ?? 'current';
  // while the bank is slow, some calls get current data
  expect(served === 'copies' ? ['copy', 'current'] : [served]).toContain(toGot(call));
  const { snapshot } = health.details;
  if (call.status === 200) expect(call.json.page.total).toBe(snapshot.accounts);
  if (!incident) return;

  if (incident.served === 'none') expect([call.status, call.json.code]).toEqual([incident.status, incident.cause.code]);
  if (incident.copy) {
    expect(incident.copy).toMatchObject({ asOf: call.json.snapshot.asOf, expiresAt: call.json.snapshot.expiresAt });
    if (incident.end !== null)
      expect(timesIn(incident.headline)).toEqual([incident.copy.asOf, incident.copy.expiresAt].map(toTime));
  }
  // an empty list has status 200
  for (const text of texts)
    expect(statusesIn(text).filter((status) => status !== incident.status && status !== call.status)).toEqual([]);
  // one piece of advice, with at most one deadline, which is before calls fail
  expect((incident.doNow.match(/\b(now|before)\b/g) ?? []).length).toBeLessThanOrEqual(1);
  expect(toReport(incident, health, now)).not.toMatch(/\byour apps?\b/i);
  if (incident.end !== null && incident.end === snapshot.expiresAt) await assertEndsAt(incident, gateway);
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
      await assertTrue(gateway, state, card);
      if (card.includes('Check now')) await assertChecked(page, gateway);
      expect(wrongs).toEqual([]);
      await page.close();
    },
  );
});
