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
import { GatewayProblem, type Recent } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { toRest, toRows, toWellText } from './apps.js';
import { toEffect } from './effect.js';
import { toCauseText, toTimer } from './cause-text.js';
import { toGoneIncident, toIncident } from './incident.js';
import { toPath } from './path.js';
import { toNote, toReport } from './report.js';

function incidentOf(health: Health, recent: Recent | null = null) {
  const incident = toIncident(health, NOW, PROBLEMS, recent);
  if (!incident) throw new Error('all is well');
  return incident;
}
const causeOf = (health: Health) =>
  Object.values(toCauseText(incidentOf(health).cause, health, NOW))
    .filter(Boolean)
    .join('');
const timerOf = (health: Health) => Object.values(toTimer(incidentOf(health), NOW) ?? {}).join(' ');

const expiring = (notAfter: string, daysLeft: number) =>
  problem('certificate-expiring', 'degraded', { notAfter, daysLeft });
const emptyUntil = (time: string) => ({ snapshot: { ...copyUntil(time, 'accounts-emptied').snapshot, accounts: 0 } });
const unusable = (notAfter: string) => ({
  certificate: problem('certificate-unusable', 'down', { notAfter, daysLeft: 0 }),
  bank: { status: 'unknown' },
});
const APPS = recentWith([{}, {}]).clients;
const NOTHING = { asOf: null, expiresAt: null, accounts: null };
const slow = (copySeconds: number | null) => ({
  bank: problem('bank-slow', 'degraded', { slow: { since: at('10:10:00'), copySeconds } }),
});

describe('an app whose calls were all rejected (4xx)', () => {
  const rejected = { current: 0, stale: 0, errors: 0 };
  const health = healthWith('degraded', { ...failingList(), ...copyUntil('10:17:01') });
  const incident = incidentOf(health);

  it('gets neither data nor an error of the gateway', () => {
    const active = recentWith([{ stale: 1 }, rejected]).clients;
    expect(toWellText(healthWith('ok'), active, NOW)).toMatch(/^1 app gets current data/);
    expect(toEffect(incident, health, active, NOW)).toMatch(/^1 app gets data of/);
  });

  it('counts as an app that has called', () => {
    const active = recentWith([rejected]).clients;
    expect(toWellText(healthWith('ok'), active, NOW)).toMatch(/^A call gets current data/);
    expect(toEffect(incident, health, active, NOW)).toMatch(/^A call gets data of/);
    expect(incidentOf(health, recentWith([rejected])).headline).toMatch(/^A call gets the copy of/);
  });
});

it('the card says that a restarted gateway serves a stored copy until its first refresh ends', () => {
  const restarted = healthWith('ok', { snapshot: { stale: true, asOf: at('10:09:01') } });
  expect(toIncident(restarted, NOW, PROBLEMS)).toBeNull();
  expect(toWellText(restarted, recentWith([{ stale: 1 }]).clients, NOW)).toBe(
    '1 app gets the copy of 10:09:01 until the next refresh ends.',
  );
});

it('the card says that a copy has expired while no call needed a new one', () => {
  const active = recentWith([{ current: 0 }]).clients;
  expect(toWellText(healthWith('ok'), active, Date.parse(at('10:20:00')))).toBe(
    'The next call waits for the bank: the copy expired at 10:17:58.',
  );
});

describe('an expiring certificate', () => {
  const next = {
    thumbprint: 'CD',
    notAfter: '2028-11-20T00:00:00.000Z',
    state: 'waiting-for-bank',
    since: at('09:00:00'),
  };
  const waiting =
    'A new certificate, valid until 20 Nov 2028, was found at 09:00:00 and is not in use: the bank has not accepted it yet.';

  it('is shown with the new one that waits for the bank, and after its end too', () => {
    const notAfter = '2026-12-01T00:00:00.000Z';
    const soon = problem('certificate-expiring', 'degraded', { notAfter, daysLeft: 9, next });
    expect(causeOf(healthWith('degraded', { certificate: soon }))).toMatch(new RegExp(`with 503\\. ${waiting}$`));
    const ended = problem('certificate-unusable', 'down', { notAfter: at('10:00:00'), daysLeft: 0, next });
    const health = healthWith('degraded', { certificate: ended, ...copyUntil('10:17:01', 'certificate-unusable') });
    expect(causeOf(health)).toContain(waiting);
  });
});

/** A state of each kind, from /health of a real gateway: test/console/states-of-the-page. */
describe('what apps get', () => {
  it.each([
    ['all is well', healthWith('ok'), 'none'],
    [
      'the bank fails',
      healthWith('degraded', { ...failingList(), ...copyUntil('10:17:01') }),
      'copy: Apps get the copy of 10:09:01. At 10:17:01 every call fails.',
    ],
    [
      'the copy ended, before /health is asked again',
      healthWith('degraded', { ...failingList(), ...copyUntil('10:13:00') }),
      'none: All calls have failed with 503 since 10:13:00.',
    ],
    [
      'the copy had expired before the cause began',
      healthWith('error', { ...failingList(), ...copyUntil('10:05:00') }),
      'none: All calls have failed with 503 since 10:09:13.',
    ],
    [
      'nothing was ever cached, and the clock of the page is a second behind',
      healthWith('error', {
        bank: { ...failingList().bank, status: 'down', listFailingSince: at('10:13:03') },
        snapshot: NOTHING,
      }),
      'none: All calls have failed with 503 since 10:13:03.',
    ],
    [
      'the token fails, since later than the list: of the request that is named',
      healthWith('error', { ...failingToken('bank-error', 503), ...copyUntil('10:05:00') }),
      'none: All calls have failed with 503 since 10:09:13.',
    ],
    [
      'the copy is of another day',
      healthWith('degraded', {
        ...failingList(),
        snapshot: problem('bank-error', 'degraded', {
          stale: true,
          asOf: '2026-11-20T23:59:01.000Z',
          expiresAt: at('11:00:00'),
        }),
      }),
      'copy: Apps get the copy of 20 Nov, 23:59:01. At 11:00:00 every call fails.',
    ],
    [
      'an empty list is a copy: empty comes first',
      healthWith('degraded', { ...failingList(), ...emptyUntil('10:14:01') }),
      'empty: Apps get an empty list, the copy of 10:09:01. At 10:14:01 every call fails.',
    ],
    [
      'an empty copy has expired',
      healthWith('degraded', { ...failingList('bank-refused', 403), ...emptyUntil('10:13:00') }),
      'none: All calls have failed with 502 since 10:13:00.',
    ],
    [
      'the bank is slow, while a copy is served',
      healthWith('degraded', { ...slow(18), ...copyUntil('10:17:01', 'bank-slow') }),
      'copies: The bank is slow. Apps got copies up to 18 s old, marked stale.',
    ],
    [
      'the bank is slow, right after a refresh: the same',
      healthWith('degraded', slow(18)),
      'copies: The bank is slow. Apps got copies up to 18 s old, marked stale.',
    ],
    [
      'the bank is slow, and no copy was served',
      healthWith('degraded', slow(null)),
      'copies: The bank is slow. Calls wait for the bank.',
    ],
    [
      'a token is rejected that the next refresh needs: both times',
      healthWith('degraded', {
        token: problem('address-not-allowed', 'degraded', {
          willFail: { currentUntil: at('10:14:00'), copyUntil: at('10:19:00') },
          failingSince: at('10:12:00'),
          lastError: { code: 'address-not-allowed', at: at('10:12:00'), status: 403 },
        }),
      }),
      'current: Apps get current data until 10:14:00, then the copy until 10:19:00.',
    ],
    [
      'the bank fails, and data is still current',
      healthWith('degraded', failingList()),
      'current: Apps get current data. At 10:17:58 every call fails.',
    ],
    [
      'a renewal fails that may heal: no forecast',
      healthWith('degraded', { token: problem('bank-error', 'degraded', { failingSince: at('10:12:00') }) }),
      'current: Apps get current data.',
    ],
    [
      'an own token never was, and another instance has a copy',
      healthWith('error', { ...failingToken('credentials-rejected', 401), ...copyUntil('10:17:01') }),
      'copy: Apps get the copy of 10:09:01. At 10:17:01 every call fails.',
    ],
    [
      'the certificate expired while the gateway runs',
      healthWith('degraded', { ...unusable(at('10:12:00')), ...copyUntil('10:14:01', 'certificate-unusable') }),
      'copy: Apps get the copy of 10:09:01. At 10:14:01 every call fails.',
    ],
    [
      'the certificate expired and the copy ended',
      healthWith('error', { ...unusable(at('10:05:00')), ...copyUntil('10:12:00', 'certificate-unusable') }),
      'none: All calls have failed with 503 since 10:12:00.',
    ],
    [
      'the certificate had expired before the gateway was started',
      healthWith('error', { ...unusable('2024-10-27T00:00:00.000Z'), snapshot: NOTHING }),
      'none: All calls fail with 503.',
    ],
    [
      'the certificate is not valid yet',
      healthWith('error', { ...unusable('2027-11-20T00:00:00.000Z'), snapshot: NOTHING }),
      'none: All calls fail with 503.',
    ],
    [
      'the first list is read',
      healthWith('error', { snapshot: problem('bank-slow', 'down', NOTHING) }),
      'waiting: Calls wait for the bank: no list of accounts is cached.',
    ],
    [
      'a certificate expires',
      healthWith('degraded', { certificate: expiring('2026-11-24T08:00:00.000Z', 2) }),
      'current: Apps get current data until 24 Nov 2026, 08:00 UTC.',
    ],
    [
      'the certificate of this API has expired',
      healthWith('degraded', { listener: expiring(at('09:00:00'), -1) }),
      'current: Apps that verify the certificate of this API cannot connect: it has expired.',
    ],
    [
      'the certificate of this API has expired, so that nobody calls, and the copy has expired too',
      healthWith('degraded', { listener: expiring(at('09:00:00'), -1), snapshot: { expiresAt: at('09:30:00') } }),
      'untried: Apps that verify the certificate of this API cannot connect: it has expired.',
    ],
    [
      'nothing ends',
      healthWith('degraded', { sharing: problem('sharing-unavailable') }),
      'current: Apps get current data.',
    ],
  ])('is described when %s', (_state, health, wanted) => {
    const incident = toIncident(health, NOW, PROBLEMS);
    expect(incident ? `${incident.served}: ${incident.headline}` : 'none').toBe(wanted);
  });

  it('is unknown while the gateway does not respond', () => {
    const gone = new GatewayProblem({ code: 'network-error', owner: 'network', message: 'x' });
    const incident = toGoneIncident(gone, at('10:12:00'), PROBLEMS);
    expect(incident).toMatchObject({ served: 'unknown', headline: 'The gateway does not answer.', request: null });
    expect(toTimer(incident, NOW)).toBeNull();
    expect(toEffect(incident, null, APPS, NOW)).toMatch(/^Apps on the same network path/);
    const rejected = new GatewayProblem({ code: 'client-not-allowed', owner: 'caller', message: 'x', status: 403 });
    expect(toEffect(toGoneIncident(rejected, at('10:12:00'), PROBLEMS), null, APPS, NOW)).toMatch(/^Unknown/);
  });

  it('is the same in headline, path and the note for app teams while the bank is slow', () => {
    const health = healthWith('degraded', slow(18));
    const copies = { current: 1, stale: 2 };
    const recent = recentWith([copies, copies, { current: 3 }]);
    const incident = incidentOf(health, recent);
    const text = '2 apps get copies up to 18 s old, marked stale.';
    expect(incident.headline).toBe(`The bank is slow. ${text}`);
    expect(toEffect(incident, health, recent.clients, NOW)).toBe(text);
    expect(toPath(health, recent, NOW).map(({ level, value }) => `${level} ${value}`)).toEqual([
      expect.stringMatching(/^ok/),
      'ok direct',
      expect.stringMatching(/^ok/),
      'warn slow since 10:10:00',
      'warn copies up to 18 s old',
      'warn 2 apps get copies',
    ]);
    expect(toNote(incident, health, NOW)).toContain(`${text} (Times are UTC.)`);
    expect(toNote(incident, health, NOW)).toContain('Your app gets snapshot.stale = true.');
  });

  it('is counted by the results of their calls', () => {
    const failing = { current: 0, errors: 3 };
    const health = healthWith('error', { ...failingList(), ...copyUntil('10:12:30') });
    const recent = recentWith([failing, failing, {}]);
    expect(incidentOf(health, recent).headline).toBe('All calls have failed with 503 since 10:12:30.');
    expect(toEffect(incidentOf(health), health, recent.clients, NOW)).toBe('2 apps get 503 instead of data.');
    expect(toPath(health, recent, NOW).at(-1)).toMatchObject({ level: 'bad', value: '2 apps get errors' });
  });

  it('claims nothing about calls that nobody has made', () => {
    const health = healthWith('error', { ...failingList(), ...copyUntil('10:12:30') });
    const before = recentWith([{ lastAt: at('10:12:20') }, { current: 0, lastAt: at('10:13:00') }]);
    expect(incidentOf(health, before).headline).toBe('All calls fail with 503. No app has called since 10:12:30.');
    const bank = { ...failingList().bank, listFailingSince: at('09:10:00') };
    const old = incidentOf(healthWith('error', { bank, ...copyUntil('09:12:30') }), recentWith([]));
    expect(old.headline).toBe('All calls fail with 503. No app has called in the last hour.');
  });
});

describe('the table of apps', () => {
  const clients = recentWith([
    { name: 'well' },
    { name: 'silent', callsPerMinute: 0, current: 0 },
    { name: 'wrong', current: 0 },
    { name: 'old', current: 1, stale: 2 },
    { name: 'b-failing', current: 2, errors: 1 },
    { name: 'a-failing', current: 0, errors: 3 },
  ]).clients;

  it('lists failing apps first, then those with copies, rejections, current data, and no call', () => {
    const names = toRows(clients).map(({ name }) => name);
    expect(names).toEqual(['a-failing', 'b-failing', 'old', 'wrong', 'well', 'silent']);
  });

  it('sums up the apps that do not fit', () => {
    expect(toRest(toRows(clients).slice(2))).toBe(
      '4 more: 1 on copies, 1 rejected (4xx), 1 current, 1 without a call in the last minute.',
    );
  });
});

describe('the recipient of the report', () => {
  it.each([
    ['network', 'network', /CONNECT/],
    ['operator', null, null],
  ] as const)('is the owner (%s) of a rejected tunnel, whose request is %j', (owner, call, request) => {
    const egress = problem('proxy-refused', 'down', { owner });
    const incident = incidentOf(healthWith('error', { egress, ...copyUntil('10:05:00') }));
    expect(incident).toMatchObject({ call, request: request === null ? null : expect.stringMatching(request) });
  });
});

describe('the cause', () => {
  it.each([
    [{ ...failingList(), ...copyUntil('10:17:01') }, 'The bank answers the account list with 503 since 10:09:13'],
    [
      { ...failingToken('credentials-rejected', 401), ...copyUntil('10:17:01') },
      'The bank answers the token request with 401 since 10:09:13The bank rejected the user name or password.',
    ],
    [
      { ...failingList('bank-unreachable', null), ...copyUntil('10:17:01') },
      'Detail of bank-unreachable. Failing since 10:09:13.',
    ],
    [slow(18), 'The account list has been slow since 10:10:00.'],
    [
      { ...unusable(at('10:12:00')), ...copyUntil('10:14:01', 'certificate-unusable') },
      'The client certificate expired on 21 Nov 2026, 10:12 UTC.',
    ],
    [
      { certificate: expiring('2026-11-24T08:00:00.000Z', 2) },
      'The client certificate expires on 24 Nov 2026, 08:00 UTC.From then on nothing can be read from the bank, and within 5 min every call fails with 503.',
    ],
    [
      { bank: problem('clock-skewed', 'degraded', { detail: "The clock of this machine is 95 s behind the bank's." }) },
      "The clock of this machine is 95 s behind the bank's.Which of the two is wrong is not known.",
    ],
  ])('is described for %j', (change, text) => {
    expect(causeOf(healthWith('degraded', change))).toBe(text);
  });

  it.each([
    [
      'The bank closed two connections; most likely it rejected our client certificate. Set BANK_TLS_MAX_VERSION=1.2.',
      'The bank closed two connections; most likely it rejected our client certificate.',
    ],
    [`The bank closed two connections, ${'because '.repeat(20)}.`, 'The bank rejected our client certificate.'],
    ['The response is larger than BANK_MAX_RESPONSE_BYTES.', 'The bank rejected our client certificate.'],
  ])('is a short sentence that names none of our settings: %s', (detail, text) => {
    const egress = { ...problem('certificate-rejected', 'down'), detail };
    const health = healthWith('error', { egress, ...copyUntil('10:05:00') });
    expect(toCauseText(incidentOf(health).cause, health, NOW).what).toBe(text);
    expect(toReport(incidentOf(health), health, NOW)).not.toContain('BANK_');
  });

  it('is red from three days before a certificate expires', () => {
    const levelOf = (notAfter: string) =>
      incidentOf(healthWith('degraded', { certificate: expiring(notAfter, 9) })).level;
    expect([levelOf('2026-11-24T10:13:00.000Z'), levelOf('2026-11-24T10:14:00.000Z')]).toEqual(['bad', 'warn']);
    const certificate = expiring('2026-11-22T09:13:02.000Z', 0);
    const [first] = toPath(healthWith('degraded', { certificate }), null, NOW);
    expect(first).toMatchObject({ level: 'bad', value: '23 h left' });
  });

  it('names an expired certificate of this API, and its effect', () => {
    const shut = healthWith('degraded', { listener: expiring(at('09:00:00'), -1), snapshot: NOTHING });
    const incident = incidentOf(shut);
    expect(incident.level).toBe('bad');
    expect(incident.cause.title).toBe('The certificate of this API has expired');
    expect(toEffect(incident, shut, [], NOW)).toBe('Apps that verify the certificate of this API cannot connect.');
    expect(incident.doNow).toMatch(/^Install a new certificate now\./);
    expect(toCauseText(incident.cause, shut, NOW)).toMatchObject({
      what: 'The certificate of this API expired on 21 Nov 2026, 09:00 UTC.',
      meaning: 'Since then, apps that verify it cannot connect.',
    });
  });

  it('is the trouble that cuts off the apps first; the others are mentioned too', () => {
    const certificate = expiring('2026-12-20T08:00:00.000Z', 28);
    const list = incidentOf(healthWith('degraded', { certificate, ...failingList() }));
    expect(list).toMatchObject({ cause: { part: 'bank' }, also: [{ part: 'certificate' }] });
    const two = { certificate, listener: expiring('2026-11-23T09:00:00.000Z', 1) };
    expect(incidentOf(healthWith('degraded', two))).toMatchObject({ cause: { part: 'listener' } });
    const sharing = problem('sharing-unavailable');
    expect(incidentOf(healthWith('degraded', { sharing, certificate })).cause.part).toBe('certificate');
  });
});

describe('the time that is left', () => {
  it.each([
    [{ ...failingList(), ...copyUntil('10:17:01') }, '3:59 until calls fail with 503'],
    [{ ...failingList('bank-refused', 403), ...emptyUntil('10:14:01') }, '0:59 until calls fail with 502'],
    [{ ...failingList(), ...copyUntil('10:09:00') }, '3 min apps without data'],
    [{ ...failingList(), ...copyUntil('10:13:02') }, 'now apps without data'],
    [{ certificate: expiring('2026-11-24T08:00:00.000Z', 2) }, '2 days until the certificate expires'],
    [{ certificate: expiring('2026-11-22T09:30:00.000Z', 0) }, '23 h until the certificate expires'],
    [{ listener: expiring(at('09:00:00'), -1) }, '1 h since the certificate expired'],
    [{ sharing: problem('sharing-unavailable') }, ''],
    [{ ...slow(18), ...copyUntil('10:17:01', 'bank-slow') }, ''],
  ])('is shown for %j', (change, text) => {
    expect(timerOf(healthWith('degraded', change))).toBe(text);
  });
});

describe('what to do', () => {
  it.each([
    [
      'the cause heals: until half of the life of the copy is over',
      { ...failingList(), ...copyUntil('10:17:01') },
      'Report it to the bank before 10:14. The cause is not on our side: certificate, network and token service are healthy.',
    ],
    ['half of it is over', { ...failingList(), ...copyUntil('10:14:01') }, /^Report it to the bank now\./],
    ['it ends within the minute', { ...failingList(), ...copyUntil('10:13:40') }, /^Report it to the bank now\./],
    ['nothing is served', { ...failingList(), ...copyUntil('10:05:00') }, /^Report it to the bank now\./],
    [
      'the cause does not heal',
      { ...failingToken('credentials-rejected', 401), ...copyUntil('10:17:01') },
      /^Put the right BANK_USERNAME and BANK_PASSWORD in place now\. If they are right, ask the bank/,
    ],
    [
      'a certificate expires',
      { certificate: expiring('2026-11-24T08:00:00.000Z', 2) },
      /^Install a new certificate before 24 Nov 2026, 08:00 UTC\./,
    ],
    [
      'nothing ends',
      { sharing: problem('sharing-unavailable') },
      /^Repair the Redis of REDIS_URL, or correct REDIS_URL\./,
    ],
  ])('is the first step with one deadline when %s', (_when, change, text) => {
    expect(incidentOf(healthWith('degraded', change)).doNow).toEqual(
      typeof text === 'string' ? text : expect.stringMatching(text),
    );
  });

  it('claims nothing about our side if our path may be wrong', () => {
    const change = { ...failingList('access-not-granted', 404), snapshot: NOTHING };
    expect(incidentOf(healthWith('error', change)).doNow).not.toContain('not on our side');
  });

  it('names the bank as the contact if it must act, with our address if the allowlist may be the cause', () => {
    const whoOf = (change: Record<string, object>) => Object.values(incidentOf(healthWith('degraded', change)).who);
    expect(whoOf({ ...failingList(), ...copyUntil('10:17:01') })).toEqual(['The bank', 'Desk, +45 70 10 00 00', '']);
    expect(whoOf({ ...failingToken('address-not-allowed', 403), ...copyUntil('10:17:01') })).toEqual([
      'The operator, with the bank',
      'Desk, +45 70 10 00 00',
      'The bank sees us as 203.0.113.7.',
    ]);
    expect(whoOf({ certificate: expiring('2026-11-24T08:00:00.000Z', 2) })).toEqual([
      'The operator of this gateway',
      'The bank: Desk, +45 70 10 00 00',
      '',
    ]);
    expect(whoOf({ ...failingList('bank-unreachable', null), ...copyUntil('10:17:01') })).toEqual([
      'The network team',
      '',
      '',
    ]);
    const unset = { bank: { ...failingList().bank, support: null }, ...copyUntil('10:17:01') };
    expect(whoOf(unset)[1]).toBe('Set BANK_SUPPORT to show its contact.');
  });
});

describe('the report and the note', () => {
  const health = healthWith('degraded', { ...failingList(), ...copyUntil('10:14:01') });

  it('the report has our identity and address, the start, the failing request, its response, and what we ask for', () => {
    expect(toReport(incidentOf(health), health, NOW)).toBe(
      `The bank returned a server error since 2026-11-21 10:09:13 UTC

We read accounts through your API, with the client certificate named below.

Our request      GET, the account list
Host             api.bank.example
Response         HTTP status 503
First failure    2026-11-21 10:09:13 UTC
Attempts         14
Last success     2026-11-21 10:09:01 UTC
Our address      203.0.113.7
Our certificate  CN=m2m
Its thumbprint   AB12 (SHA-1)
It expires on    2027-11-20 00:00:00 UTC
Our system       accounts-gateway 0.1.0 production gw-2
Report created   2026-11-21 10:13:02 UTC

Please tell us what is wrong, and when your service will be back to normal.
`,
    );
  });

  it("the report shows the bank's own code and trace id under the response", () => {
    const reference = { bankCode: 'AccountLocked', bankTraceId: '4bf92f3577b34da6a3ce929d0e0e4736' };
    const lastError = { code: 'credentials-rejected', at: '2026-11-21T10:13:00.000Z', status: 401, ...reference };
    const change = failingToken('credentials-rejected', 401, { lastError });
    const failing = healthWith('degraded', { ...change, ...copyUntil('10:14:01') });
    const rows = toReport(incidentOf(failing), failing, NOW);
    expect(rows).toMatch(/Response +HTTP status 401\nYour error code +AccountLocked\nYour trace id +4bf92f3577/);
  });

  it('host, first failure and last success belong to the failing request', () => {
    const failing = healthWith('degraded', { ...failingToken('bank-error', 503), ...copyUntil('10:14:01') });
    const rows = toReport(incidentOf(failing), failing, NOW);
    expect(/^Host +(.*)$/m.exec(rows)?.[1]).toBe('auth.bank.example');
    expect(/^First failure +(.*)$/m.exec(rows)?.[1]).toBe('2026-11-21 10:09:13 UTC');
    expect(/^Last success +(.*)$/m.exec(rows)?.[1]).toBe('2026-11-21 10:11:22 UTC');
  });

  it('the report on a slow bank mentions none of our settings', () => {
    const failing = healthWith('degraded', slow(18));
    expect(toReport(incidentOf(failing), failing, NOW)).not.toMatch(/SNAPSHOT_|\bapps?\b/i);
  });

  it('the note for app teams describes the responses, and what to display', () => {
    expect(toNote(incidentOf(health), health, NOW)).toBe(
      `accounts-gateway 0.1.0 production gw-2, 2026-11-21 10:13:02 UTC

Apps get the copy of 10:09:01. At 10:14:01 every call fails. (Times are UTC.)
Cause: The bank returned a server error (bank-error), since 2026-11-21 10:09:13 UTC.
Your app gets snapshot.stale = true. Show snapshot.asOf beside the balances, and remove them after snapshot.expiresAt.
`,
    );
    const noteOf = (other: Health) => toNote(incidentOf(other), other, NOW);
    const empty = healthWith('degraded', { ...failingList(), ...emptyUntil('10:14:01') });
    expect(noteOf(empty)).toContain('Do not read the empty list as "no accounts".');
    const waiting = healthWith('error', { snapshot: problem('bank-slow', 'down', NOTHING) });
    expect(noteOf(waiting)).toContain('Calls wait, and may fail with 504 bank-timeout.');
  });

  it('the note about a gateway that does not answer claims only what the page has seen', () => {
    const gone = new GatewayProblem({ code: 'network-error', owner: 'network', message: 'x' });
    expect(toNote(toGoneIncident(gone, at('10:12:00'), PROBLEMS), health, NOW)).toBe(
      `accounts-gateway 0.1.0 production gw-2, 2026-11-21 10:13:02 UTC

The gateway does not answer. (Times are UTC.)
Seen from its status page since 2026-11-21 10:12:00 UTC. Apps on another network path may still reach it.
If your app gets no response either, it may show the balances it has, with snapshot.asOf beside them, until snapshot.expiresAt. Retry with a back-off.
`,
    );
  });
});
