import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { ProblemEntry, Recent } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';
import { toEffect, toWellText } from '../../src/pages/console/web/status/apps.js';
import { toCauseText, toTimer } from '../../src/pages/console/web/status/cause-text.js';
import { toIncident, type Incident } from '../../src/pages/console/web/status/incident.js';
import { toNote, toReport } from '../../src/pages/console/web/status/report.js';
import { toPath } from '../../src/pages/console/web/status/path.js';
import { SnapshotCache } from '../../src/cache/snapshot-cache.js';
import { Clock } from '../../src/time/clock.js';
import { openWindow, startBrowser } from '../support/client-pages.js';
import type { Answer, Gateway } from '../support/gateway.js';
import type { MovedClock } from '../support/moved-clock.js';
import { hasChromium } from '../support/tools.js';
import { axeFaultsOf, layoutOf, openPage, pathOf } from './open-page.js';
import { PAGE_STATES, type PageState } from './page-states.js';

const FULL = process.env['FULL'] === '1';
/** States that a browser shows, with every component of the page between them; with FULL=1 it shows all states. */
const SHOWN = new Set<string>([
  'all is well in the sandbox',
  'the bank fails',
  'the copy has expired',
  'the certificate ends in 3 days',
  'the first refresh has not ended',
  'names are hostile and amounts long',
] satisfies (keyof typeof PAGE_STATES)[]);

/** The result of a call, in the words of the page. */
function toGot({ status, json }: Answer): Incident['served'] {
  if (status !== 200) return 'none';
  if (json.page.total === 0) return 'empty';
  return json.snapshot.stale ? 'copy' : 'current';
}

/** Every text of the incident on the page, and those that it copies. */
function textsOf(incident: Incident, health: Health, now: number): string[] {
  const { what, answer, since, meaning } = toCauseText(incident.cause, health, now);
  const timer = toTimer(incident, now);
  return [
    incident.headline,
    `${what}${answer}${since} ${meaning}`,
    timer ? `${timer.value} ${timer.label}` : '',
    incident.doNow,
    Object.values(incident.who).join(' '),
    toEffect(incident, 2, now),
    toNote(incident, health, now),
    toReport(incident, health, now),
    ...toPath(health, null, now)
      .map(({ value }) => value)
      // when a token is usable until, and when the list was read
      .filter((value) => !/^token|ms, |^answers, /.test(value)),
  ];
}

const timesIn = (text: string): string[] => text.match(/\b\d\d:\d\d:\d\d\b/g) ?? [];
const toTime = (at: string | number): string => new Date(at).toISOString().slice(11, 19);
/** The statuses that a text says calls get: "fail with 503", "get 502", "with status 200". */
const statusesIn = (text: string): number[] =>
  [...text.matchAll(/\b(?:fails?(?:ed)? with|gets?|with status) (\d{3})\b/g)].map(([, status]) => Number(status));

/** The times that the page has facts for. */
function factsOf({ details: { bank, certificate, snapshot, token } }: Health, now: number): string[] {
  const facts = [
    bank.failingSince,
    bank.listFailingSince,
    token.failingSince,
    token.lastSuccessAt,
    bank.slow?.since,
    bank.lastSuccessAt,
    certificate.notAfter,
    snapshot.asOf,
    snapshot.expiresAt,
    now,
  ];
  return facts.filter((at) => at !== null && at !== undefined).map(toTime);
}

/** Asserts that calls fail from the moment that the page says. */
async function assertEndsAt({ end, status }: Incident, { app, get }: Gateway): Promise<void> {
  const clock = app.get(Clock) as MovedClock;
  clock.stop();
  clock.advance(Date.parse(end ?? '') - clock.now().wall - 1);
  expect(app.get(SnapshotCache).status().servable).toBe(true);
  clock.advance(2);
  expect((await get('/api/v1/accounts')).status).toBe(status);
}

/** Asserts that every sentence of the page matches what a call returns at that moment, and that path and owner are right. */
async function assertTrue(gateway: Gateway, { sentence, path, owner }: PageState): Promise<void> {
  const health = (await gateway.get('/health')).json as Health;
  const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
  const now = Date.now();
  const incident = toIncident(health, now, problems);
  const recent = (await gateway.get('/health/recent')).json as Recent;
  expect(incident?.headline ?? toWellText(health, 1, now)).toMatch(sentence);
  expect(incident?.cause.owner).toBe(owner);
  expect(toPath(health, recent, now).map(({ level }) => level)).toEqual(path);
  if (incident?.served === 'waiting') {
    // a call would wait for the refresh, which the scene never ends
    expect(gateway.app.get(SnapshotCache).status()).toMatchObject({ servable: false, refreshing: true });
    return;
  }
  const call = await gateway.get('/api/v1/accounts', { accept: 'application/json' });
  expect(incident?.served ?? 'current').toBe(toGot(call));
  const { snapshot } = health.details;
  if (call.status === 200) expect(call.json.page.total).toBe(snapshot.accounts);
  if (!incident) return;

  if (incident.served === 'none') expect([call.status, call.json.code]).toEqual([incident.status, incident.cause.code]);
  if (incident.copy) {
    expect(incident.copy).toMatchObject({ asOf: call.json.snapshot.asOf, expiresAt: call.json.snapshot.expiresAt });
    if (incident.end !== null)
      expect(timesIn(incident.headline)).toEqual([incident.copy.asOf, incident.copy.expiresAt].map(toTime));
  }
  const texts = textsOf(incident, health, now);
  const facts = factsOf(health, now);
  for (const text of texts) {
    expect(text).not.toMatch(/undefined|null|NaN|Invalid|\{when\}| {3,}\n/);
    expect(timesIn(text).filter((time) => !facts.includes(time))).toEqual([]);
    // an empty list has status 200
    expect(statusesIn(text).filter((status) => status !== incident.status && status !== call.status)).toEqual([]);
  }
  // one piece of advice, with one deadline at most, which comes before calls fail
  expect((incident.doNow.match(/\b(now|before)\b/g) ?? []).length).toBeLessThanOrEqual(1);
  expect(toReport(incident, health, now)).not.toMatch(/\byour apps?\b/i);
  if (incident.end !== null && incident.end === snapshot.expiresAt) await assertEndsAt(incident, gateway);
}

/** Asserts that its sentence is the first thing, that it is one screen, and that nothing is cut off at any width. */
async function assertShown(browser: Browser, { url }: Gateway, { sentence, path }: PageState): Promise<void> {
  const context = await openWindow(browser, { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  const { page, wrongs } = await openPage(context, url);
  await page.locator('.incident, .well').waitFor();
  expect(await page.getByRole('heading').first().innerText()).toMatch(sentence);
  expect(await pathOf(page)).toEqual(path);
  expect(await axeFaultsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFaultsOf(page, ['color-contrast'])).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
  for (const width of [360, 768, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    expect((await layoutOf(page)).width).toBe(width);
  }
  expect(wrongs).toEqual([]);
  await context.close();
}

const suite = hasChromium() ? describe : describe.skip;

suite('Status', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it.each(Object.entries<PageState>(PAGE_STATES))(
    'when %s: its sentences are true; where shown, the first comes first, on one screen, and nothing is cut off at any width',
    async (name, state) => {
      const gateway = await state.arrange();
      if (FULL || SHOWN.has(name)) await assertShown(browser, gateway, state);
      await assertTrue(gateway, state);
    },
  );
});
