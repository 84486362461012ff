import { expect, it } from '@jest/globals';
import type { ProblemEntry } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';
import { toEffect } from '../../src/pages/console/web/status/apps.js';
import { toCauseText } from '../../src/pages/console/web/status/cause-text.js';
import { toTimer } from '../../src/pages/console/web/status/countdown.js';
import { toIncident, type Incident } from '../../src/pages/console/web/status/incident.js';
import { toNote, toReport } from '../../src/pages/console/web/status/report.js';
import { toPath } from '../../src/pages/console/web/status/path.js';
import { Clock } from '../../src/time/clock.js';
import type { Answer, Gateway } from '../support/gateway.js';
import type { MovedClock } from '../support/moved-clock.js';
import { PAGE_STATES, type PageState } from './page-states.js';

/** The result of a call, in the words of the page. */
function toGot({ status, json }: Answer): Incident['served'] {
  if (json.code === 'not-cached') return 'waiting';
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
    toEffect(incident, 2),
    toNote(incident, health, now),
    toReport(incident, health, now),
    ...toPath(health, null, now).map(({ value }) => value),
  ];
}

const timesIn = (text: string): string[] => text.match(/\b\d\d:\d\d:\d\d\b/g) ?? [];
const toTime = (at: string | number): string => new Date(at).toISOString().slice(11, 19);
/** The statuses that a text says calls get: "fail with 503", "get 502", "with status 200". */
const statusesIn = (text: string): number[] =>
  [...text.matchAll(/\b(?:fails?(?:ed)? with|gets?|with status) (\d{3})\b/g)].map(([, status]) => Number(status));

/** The times that the page has facts for. */
function factsOf({ details: { bank, certificate, snapshot } }: Health, now: number): string[] {
  const facts = [bank.failingSince, bank.lastSuccessAt, certificate.notAfter, snapshot.asOf, snapshot.expiresAt, now];
  return facts.filter((at) => at !== null && at !== undefined).map(toTime);
}

/** Asserts that calls fail, or wait for a slow bank, from the moment that the page says. */
async function assertEndsAt({ end, status, cause }: Incident, { app, get }: Gateway): Promise<void> {
  const clock = app.get(Clock) as MovedClock;
  const getCached = () => get('/api/v1/accounts', { 'cache-control': 'only-if-cached' });
  clock.stop();
  clock.advance(Date.parse(end ?? '') - clock.now().wall - 1);
  expect((await getCached()).status).toBe(200);
  clock.advance(2);
  if (cause.code === 'bank-slow') expect((await getCached()).json.code).toBe('not-cached');
  else expect((await get('/api/v1/accounts')).status).toBe(status);
}

it.each(Object.entries<PageState>(PAGE_STATES))(
  'when %s: the sentences match what a call returns at that moment, and path and owner are right',
  async (_name, { arrange, sentence, path, owner }) => {
    const gateway = await arrange();
    const health = (await gateway.get('/health')).json as Health;
    const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
    const now = Date.now();
    const incident = toIncident(health, now, problems);
    // who waits is not answered yet
    const headers = incident?.served === 'waiting' ? { 'cache-control': 'only-if-cached' } : {};
    const call = await gateway.get('/api/v1/accounts', { accept: 'application/json', ...headers });
    expect(incident?.headline ?? 'Operational').toMatch(sentence);
    expect(incident?.cause.owner).toBe(owner);
    expect(toPath(health, null, now).map(({ level }) => level)).toEqual(path);
    expect(incident?.served ?? 'current').toBe(toGot(call));
    const { snapshot } = health.details;
    if (call.status === 200) expect(call.json.page.total).toBe(snapshot.accounts);
    if (!incident) return;

    if (incident.served === 'none')
      expect([call.status, call.json.code]).toEqual([incident.status, incident.cause.code]);
    if (incident.copy) {
      expect(incident.copy).toMatchObject({ asOf: call.json.snapshot.asOf, expiresAt: call.json.snapshot.expiresAt });
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
  },
);
