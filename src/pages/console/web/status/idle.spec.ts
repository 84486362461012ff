import { describe, expect, it } from '@jest/globals';
import {
  at,
  copyUntil,
  failingList,
  failingToken,
  healthWith,
  NOW,
  problem,
  PROBLEMS,
  recentWith,
} from '../../../../../test/support/health-sample.js';
import { toIdle, toIdleText } from './idle.js';
import { toNextTask, toCalendar } from './next-task.js';
import { toIncident } from './incident.js';
import { toMainStage, toPath } from './path.js';

const LATER = NOW + 12 * 60_000;
const NO_CALLS = { requests: 0, current: 0, stale: 0, errors: 0, bankP50Ms: null };
const silent = recentWith(
  [{ callsPerMinute: 0, lastAt: at('10:12:30') }],
  [
    { at: at('10:11:10'), requests: 40, current: 40, stale: 0, errors: 0, bankP50Ms: 30 },
    { at: at('10:12:30'), requests: 95, current: 95, stale: 0, errors: 0, bankP50Ms: 30 },
  ],
);
const textOf = (health: ReturnType<typeof healthWith>, now = LATER) => {
  const idle = toIdle(health, silent, now);
  return idle && Object.values(toIdleText(idle, health, silent, PROBLEMS, now));
};
const pathOf = (...args: Parameters<typeof toPath>) =>
  toPath(...args).map(({ name, level, value }) => `${name} ${level}: ${value}`);

describe('a gateway that no app calls', () => {
  it('shows the last known state, and no attempt since then: the copy and the token have expired', () => {
    const health = healthWith('ok', { token: { expiresInSeconds: null, state: 'none' } });
    expect(textOf(health)).toEqual([
      'No app has called for 12 min.',
      'The last refresh, at 10:12:58, succeeded: 120 accounts.',
      'Nothing has been tried since. The token has expired. The copy expired at 10:17:58, so the next call waits for the bank.',
      'Before 10:12 there were 40 to 95 calls a minute.',
    ]);
    expect(pathOf(health, silent, LATER)).toEqual([
      'Certificate ok: 363 days left',
      'Network unknown: not tried since 10:12',
      'Token service unknown: token expired',
      'Account list unknown: 30 ms, 10:12:58',
      'Snapshot unknown: 10:12:58, expired',
      'Your apps unknown: no call for 12 min',
    ]);
  });

  it('shows network and token service as tried, and the list as not tried, if /health renewed the token', () => {
    const health = healthWith('ok', { token: { lastSuccessAt: new Date(LATER - 20_000).toISOString() } });
    expect(textOf(health)?.[2]).toBe('The copy expired at 10:17:58, so the next call waits for the bank.');
    expect(pathOf(health, silent, LATER).slice(1, 4)).toEqual([
      'Network ok: direct',
      expect.stringMatching(/^Token service ok: token until/),
      'Account list unknown: 30 ms, 10:12:58',
    ]);
    const earlier = healthWith('ok', { token: { lastSuccessAt: at('10:20:00') } });
    expect(textOf(earlier)?.[2]).not.toContain('tried');
    expect(pathOf(earlier, silent, LATER)[1]).toBe('Network unknown: not tried since 10:20');
  });

  it('says until when calls fail at once: the back-off after a rejection outlasts the minute', () => {
    const { token, bank } = failingToken('credentials-rejected', 401);
    const health = healthWith('error', { token, bank: { ...bank, nextAttemptAt: at('10:26:00') } });
    expect(textOf(health)?.[1]).toMatch(/^The last token request, at 10:13:00, failed with 401: /);
    expect(textOf(health)?.[2]).toMatch(/ The copy expired at 10:17:58, so calls fail at once until 10:26:00\.$/);
    expect(textOf(health, LATER + 120_000)?.[2]).toMatch(/so the next call waits for the bank\.$/);
  });

  it('says until when calls get the copy if the bank fails now', () => {
    expect(textOf(healthWith('ok'), NOW + 90_000)?.[2]).toBe(
      'Nothing has been tried since. If the bank fails now, calls get the copy of 10:12:58 until 10:17:58.',
    );
  });

  it('mentions no expired token before the first one', () => {
    const health = healthWith('ok', { token: { expiresInSeconds: null, lastSuccessAt: null } });
    expect(textOf(health, NOW + 90_000)?.[2]).not.toContain('token');
  });

  it('shows the failure of the last attempt', () => {
    const health = healthWith('degraded', { ...failingList(), ...copyUntil('10:14:01') });
    expect(textOf(health)?.[1]).toBe(
      'The last refresh, at 10:13:00, failed with 503: The bank returned a server error.',
    );
  });

  it.each([
    ['an app called within the minute', healthWith('ok'), NOW + 20_000],
    ['an attempt within the minute failed', healthWith('degraded', failingList()), NOW + 40_000],
    [
      'apps cannot connect',
      healthWith('degraded', {
        listener: { status: 'degraded', code: 'certificate-expiring', notAfter: at('10:14:00'), daysLeft: -1 },
      }),
      LATER,
    ],
    ['the instance is stopping', healthWith('error', { instance: { status: 'down', code: 'stopping' } }), LATER],
  ])('the negative case: is not idle if %s', (_why, health, now) => {
    expect(toIdle(health, silent, now)).toBeNull();
  });

  it.each([
    [['10:12:30'], 'was 1 call'],
    [['10:02:30', '10:12:30'], 'were 0 to 1 calls'],
  ])('counts the calls a minute, also minutes without one: %j', (times, calls) => {
    const points = times.map((time) => ({ ...NO_CALLS, at: at(time), requests: 1, current: 1 }));
    const recent = recentWith([{ callsPerMinute: 0, lastAt: at('10:12:30') }], points);
    const idle = toIdle(healthWith('ok'), recent, LATER);
    expect(idle && toIdleText(idle, healthWith('ok'), recent, PROBLEMS, LATER).normal).toBe(
      `Before 10:12 there ${calls} a minute.`,
    );
  });

  it.each([
    [at('09:24:00'), 'No app has called in the last hour.'],
    [at('10:24:00'), 'Ready since 10:24:05. No app has called yet.'],
  ])('says since when it has had no call: its record began at %s', (from, headline) => {
    const points = Array.from({ length: 61 }, (_, minute) => Date.parse(from) + minute * 60_000 + 10_000)
      .filter((time) => time < LATER)
      .map((time) => ({ at: new Date(time).toISOString(), ...NO_CALLS, snapshotAgeSeconds: 5 }));
    const recent = recentWith([], points);
    const idle = toIdle(healthWith('ok'), recent, LATER);
    expect(idle).toMatchObject({ silentMs: null });
    const text = idle && toIdleText(idle, healthWith('ok'), recent, PROBLEMS, LATER);
    expect(text).toMatchObject({ headline, normal: null });
  });

  it('shows what succeeded within the last minute as tried, such as its first refresh or Check now', () => {
    const recent = recentWith([], [{ at: at('10:13:00'), ...NO_CALLS, snapshotAgeSeconds: 2 }]);
    const idle = toIdle(healthWith('ok'), recent, NOW);
    expect(idle && Object.values(toIdleText(idle, healthWith('ok'), recent, PROBLEMS, NOW))).toEqual([
      'Ready since 10:12:58. No app has called yet.',
      'The last refresh, at 10:12:58, succeeded: 120 accounts.',
      'If the bank fails now, calls get the copy of 10:12:58 until 10:17:58.',
      null,
    ]);
    expect(pathOf(healthWith('ok'), recent, NOW).slice(1)).toEqual([
      'Network ok: direct',
      'Token service ok: token until 10:16',
      'Account list ok: answers, 10:12:58',
      'Snapshot ok: 120 accounts, 10:12:58',
      'Your apps unknown: no call',
    ]);
  });
});

describe('an app whose calls are all rejected', () => {
  const rejected = { name: 'broken-app', current: 0, lastAt: new Date(LATER).toISOString() };
  const before = { callsPerMinute: 0, current: 0, lastAt: at('10:12:44') };

  it.each([
    [[rejected, before], '1 app gets only rejections: broken-app. No other app has called since 10:12:44.'],
    [[rejected], '1 app gets only rejections: broken-app. No other app has called since this instance started.'],
    [
      ['a', 'b', 'c', 'd', 'none'].map((name) => ({ ...rejected, name })),
      '5 apps get only rejections: a, b, c and 2 more. No other app has called since this instance started.',
    ],
  ])('is neither served nor failing: %j', (clients, headline) => {
    const recent = recentWith(clients);
    const idle = toIdle(healthWith('ok'), recent, LATER);
    expect(idle && toIdleText(idle, healthWith('ok'), recent, PROBLEMS, LATER).headline).toBe(headline);
  });

  it('has tried nothing: the path has rings, and the app is marked', () => {
    expect(pathOf(healthWith('ok'), recentWith([rejected]), LATER).slice(1)).toEqual([
      'Network unknown: not tried since 10:12',
      expect.stringMatching(/^Token service unknown: token until/),
      'Account list unknown: answers, 10:12:58',
      'Snapshot unknown: 10:12:58, expired',
      'Your apps warn: 1 app: only rejections',
    ]);
  });

  it('the negative case: another app is served', () => {
    expect(toIdle(healthWith('ok'), recentWith([rejected, {}]), NOW)).toBeNull();
  });
});

describe('the path', () => {
  it('shows every stage as ok when nothing is wrong', () => {
    expect(pathOf(healthWith('ok'), recentWith([{}]), NOW)).toEqual([
      'Certificate ok: 363 days left',
      'Network ok: direct',
      'Token service ok: token until 10:16',
      'Account list ok: answers, 10:12:58',
      'Snapshot ok: 120 accounts, 10:12:58',
      'Your apps ok: 1 called, last minute',
    ]);
  });

  it('shows the life of the certificate in use while a new one is rejected', () => {
    const certificate = problem('certificate-unusable', 'degraded');
    expect(pathOf(healthWith('degraded', { certificate }), recentWith([{}]), NOW)[0]).toBe(
      'Certificate warn: 363 days left',
    );
  });

  it('is not checked after the broken stage, even if that is a proxy', () => {
    const egress = { status: 'degraded', code: 'proxy-refused', owner: 'network', detail: 'x', proxy: 'proxy:3128' };
    expect(pathOf(healthWith('degraded', { egress }), recentWith([{}]), NOW).slice(0, 4)).toEqual([
      'Certificate ok: 363 days left',
      'Network warn: proxy refused',
      'Token service unknown: not checked',
      'Account list unknown: not checked',
    ]);
  });

  it('marks the cause of the incident, not the first unhealthy stage', () => {
    const certificate = { status: 'degraded', code: 'certificate-expiring', notAfter: at('23:00:00'), daysLeft: 0 };
    const mainOf = (change: Record<string, object>) => {
      const cause = toIncident(healthWith('degraded', change), NOW, PROBLEMS)?.cause;
      return cause && toMainStage(cause);
    };
    const copy = copyUntil('10:14:01');
    expect(mainOf({ certificate })).toBe('Certificate');
    expect(mainOf({ certificate, ...failingList(), ...copy })).toBe('Account list');
    expect(mainOf({ certificate, ...failingList('bank-unreachable', null), ...copy })).toBe('Network');
    expect(mainOf({ sharing: problem('sharing-unavailable') })).toBeUndefined();
  });

  it('ends at apps that cannot connect', () => {
    const listener = { status: 'degraded', code: 'certificate-expiring', notAfter: at('10:12:00'), daysLeft: -1 };
    const shut = healthWith('degraded', { listener });
    expect(pathOf(shut, recentWith([]), LATER).at(-1)).toBe('Your apps bad: cannot connect');
    expect(pathOf(shut, recentWith([{}]), NOW).at(-1)).toBe('Your apps ok: 1 called, last minute');
  });

  it('shows the status of the failing request and since when it fails', () => {
    const health = healthWith('degraded', { ...failingList(), ...copyUntil('10:14:01') });
    expect(pathOf(health, recentWith([{ stale: 3 }]), NOW).slice(3)).toEqual([
      'Account list warn: 503 since 10:09:13',
      'Snapshot warn: 10:09:01, copy',
      'Your apps warn: 1 app gets the copy',
    ]);
  });

  it.each([
    ['2026-11-21T15:14:00.000Z', 'Certificate bad: 5 h left'],
    ['2026-11-21T10:13:02.000Z', 'Certificate bad: expired'],
  ])('shows the last hours of a certificate that expires at %s', (notAfter, text) => {
    const certificate = { status: 'degraded', code: 'certificate-expiring', notAfter, daysLeft: 0 };
    expect(pathOf(healthWith('degraded', { certificate }), recentWith([{}]), NOW)[0]).toBe(text);
  });
});

describe('the next task', () => {
  it('is to renew the certificate that expires first, from 30 days before, with a calendar entry', () => {
    const task = toNextTask(healthWith('ok'), NOW);
    expect(task).toMatchObject({ text: 'Renew the certificate by 21 Oct 2027', waiting: '' });
    const listener = { status: 'up', subject: 'CN=api', notAfter: '2027-03-01T00:00:00.000Z', daysLeft: 99 };
    expect(toNextTask(healthWith('ok', { listener }), NOW)).toMatchObject({
      text: 'Renew the certificate of this API by 30 Jan 2027',
      how: '/problems/certificate-expiring',
    });
    const calendarOf = (health: ReturnType<typeof healthWith>) =>
      decodeURIComponent(toCalendar(toNextTask(health, NOW), health, NOW).replace(/^.*?,/, ''));
    expect(calendarOf(healthWith('ok', { listener }))).toMatch(/DESCRIPTION:accounts-gateway [^\\]+\\, CN=api\r\n/);
    const file = calendarOf(healthWith('ok'));
    expect(file).toMatch(/^BEGIN:VCALENDAR\r\n.*DTSTART;VALUE=DATE:20271021\r\n.*END:VCALENDAR\r\n$/s);
  });

  it.each([
    ['2026-12-10T00:00:00.000Z', 'Renew the certificate of this API now: it expires on 10 Dec 2026'],
    ['2026-11-20T00:00:00.000Z', 'Renew the certificate of this API now: it expired on 20 Nov 2026'],
  ])('is due now if the 30 days have begun: %s', (notAfter, text) => {
    const listener = { status: 'degraded', subject: 'CN=api', notAfter, daysLeft: 0 };
    expect(toNextTask(healthWith('ok', { listener }), NOW)).toMatchObject({ text, due: new Date(NOW).toISOString() });
  });

  it('mentions a certificate that waits for the bank', () => {
    const next = {
      thumbprint: 'CD',
      notAfter: '2028-11-20T00:00:00.000Z',
      state: 'waiting-for-bank',
      since: at('09:00:00'),
    };
    expect(toNextTask(healthWith('ok', { certificate: { next } }), NOW).waiting).toBe(
      'A new certificate, valid until 20 Nov 2028, was found at 09:00:00 and is not in use: the bank has not accepted it yet.',
    );
    const damaged = { ...next, thumbprint: null, notAfter: null, state: 'refused' };
    expect(toNextTask(healthWith('ok', { certificate: { next: damaged } }), NOW).waiting).toBe(
      'A new certificate was found at 09:00:00 and is not in use: it was rejected.',
    );
  });
});
