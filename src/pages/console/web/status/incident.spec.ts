import { describe, expect, it } from '@jest/globals';
import { GatewayProblem } from '../shared/gateway.js';
import { toCauseText } from './cause-text.js';
import { toTimer } from './countdown.js';
import { copyUntil, FAILING, healthWith, NOW, PROBLEMS } from './health-sample.js';
import type { Health } from '../shared/health.js';
import { toGoneIncident, toIncident } from './incident.js';
import { toPath } from './path.js';
import { toNote, toReport } from './report.js';

function incidentOf(health: Parameters<typeof toIncident>[0], now = NOW) {
  const incident = toIncident(health, now, PROBLEMS);
  if (!incident) throw new Error('all is well');
  return incident;
}
const causeOf = (health: Parameters<typeof toIncident>[0]) =>
  Object.values(toCauseText(incidentOf(health).cause, health, NOW)).filter(Boolean);
const pathOf = (health: Parameters<typeof toPath>[0]) =>
  toPath(health, null, NOW).map(({ name, level, value }) => `${name} ${level}: ${value}`);
const failingToken = (code: string, owner: string, detail: string) => ({
  token: { status: 'down', state: 'waiting', expiresInSeconds: null, code, owner, detail },
  bank: { ...FAILING.bank, status: 'unknown', code: undefined, owner: undefined, detail: undefined },
});

const expiring = (notAfter: string, daysLeft: number) => {
  return { status: 'degraded', code: 'certificate-expiring', owner: 'operator', detail: 'x', notAfter, daysLeft };
};
const unusable = (notAfter: string, detail = 'x') => ({
  certificate: { status: 'down', code: 'certificate-unusable', owner: 'operator', detail, notAfter, daysLeft: 0 },
  bank: { status: 'unknown' },
});
const emptyUntil = (at: string) => ({
  snapshot: { ...copyUntil(at, 'accounts-emptied').snapshot, accounts: 0 },
});

/** Each state, from /health of a real gateway: test/console/states-of-the-page. */
describe('what apps get', () => {
  it('is the copy until it expires, with one deadline: half of its life', () => {
    const incident = incidentOf(healthWith('degraded', { ...FAILING, ...copyUntil('10:17:01') }));
    expect(incident).toMatchObject({
      level: 'warn',
      served: 'copy',
      headline: 'Apps get the copy of 10:09:01. At 10:17:01 every call fails.',
      doNow:
        'Report it to the bank before 10:14. The cause is not on our side: certificate, network and token service are healthy.',
      who: { name: 'The bank', contact: 'Desk, +45 70 10 00 00', note: '' },
      since: '2026-11-21T10:09:13.000Z',
      copy: { asOf: '2026-11-21T10:09:01.000Z', expiresAt: '2026-11-21T10:17:01.000Z' },
      also: [],
    });
    expect(toTimer(incident, NOW)).toEqual({ value: '3:59', label: 'until calls fail with 503' });
  });

  it('is due now once half of its life is over, and when the copy ends within the minute', () => {
    for (const end of ['10:14:01', '10:13:40']) {
      const { doNow } = incidentOf(healthWith('degraded', { ...FAILING, ...copyUntil(end) }));
      expect(doNow).toMatch(/^Report it to the bank now\./);
    }
  });

  it('is errors from the moment the copy ends, before /health is asked again', () => {
    const incident = incidentOf(healthWith('degraded', { ...FAILING, ...copyUntil('10:13:00') }));
    expect(incident).toMatchObject({
      level: 'bad',
      served: 'none',
      headline: 'All calls have failed with 503 since 10:13:00.',
      copy: null,
    });
    expect(toTimer(incident, NOW)).toEqual({ value: '2 s', label: 'apps without data' });
  });

  it('has failed since the cause began, if the copy had expired before', () => {
    const { bank } = FAILING;
    const snapshot = { ...copyUntil('10:05:00').snapshot, status: 'down', stale: false };
    const health = healthWith('error', { bank: { ...bank, status: 'down' }, snapshot });
    expect(incidentOf(health).headline).toBe('All calls have failed with 503 since 10:09:13.');
  });

  it('of a slow bank is no failure in advance: calls wait from the end of the copy', () => {
    const slow = { bank: { ...FAILING.bank, code: 'bank-slow', failingSince: null, attempts: null } };
    const incident = incidentOf(healthWith('degraded', { ...slow, ...copyUntil('10:17:01', 'bank-slow') }));
    expect(incident.headline).toBe('Apps get the copy of 10:09:01. At 10:17:01 calls wait for the bank.');
    expect(toTimer(incident, NOW)?.label).toBe('until calls wait for the bank');
  });

  it('is an error since the failure began, though the clock of the page is a second behind', () => {
    const failing = { bank: { ...FAILING.bank, status: 'down', failingSince: '2026-11-21T10:13:03.500Z' } };
    const health = healthWith('error', { ...failing, snapshot: { status: 'unknown', asOf: null, expiresAt: null } });
    expect(incidentOf(health).headline).toBe('All calls have failed with 503 since 10:13:03.');
  });

  it('is an empty list before it is a copy', () => {
    const health = healthWith('degraded', { ...FAILING, ...emptyUntil('10:14:01') });
    expect(incidentOf(health)).toMatchObject({
      served: 'empty',
      level: 'bad',
      headline: 'Apps get an empty list, the copy of 10:09:01. At 10:14:01 every call fails.',
      cause: { code: 'accounts-emptied' },
      also: [{ code: 'bank-error' }],
    });
    expect(incidentOf(health).doNow).toMatch(/^Ask the bank now why its list is empty\./);
  });

  it('is the failure of the next refresh once an empty copy has expired, with its status from the start', () => {
    const bank = { ...FAILING.bank, code: 'bank-refused', owner: 'operator' };
    const empty = incidentOf(healthWith('degraded', { bank, ...emptyUntil('10:14:01') }));
    expect(toTimer(empty, NOW)?.label).toBe('until calls fail with 502');
    const expired = incidentOf(healthWith('degraded', { bank, ...emptyUntil('10:13:00') }));
    expect(expired).toMatchObject({
      served: 'none',
      headline: 'All calls have failed with 502 since 10:13:00.',
      cause: { code: 'bank-refused' },
    });
  });

  it('is an empty list, then nothing, if the bank is slow', () => {
    const bank = { status: 'degraded', code: 'bank-slow', owner: 'bank', detail: 'x' };
    const empty = incidentOf(healthWith('degraded', { bank, ...emptyUntil('10:14:01') }));
    expect(empty.headline).toBe('Apps get an empty list, the copy of 10:09:01. At 10:14:01 calls wait for the bank.');
    expect(toTimer(empty, NOW)?.label).toBe('until calls wait for the bank');
    const expired = healthWith('degraded', { bank, ...emptyUntil('10:13:00') });
    expect(incidentOf(expired)).toMatchObject({ served: 'waiting', status: 504, cause: { code: 'bank-slow' } });
  });

  it('the negative case: an empty list that an operator has confirmed is no incident', () => {
    expect(toIncident(healthWith('ok', { snapshot: { accounts: 0 } }), NOW, PROBLEMS)).toBeNull();
  });

  it('is the copy, until it ends, if the certificate expires while the gateway runs', () => {
    const snapshot = copyUntil('10:14:01', 'certificate-unusable');
    const incident = incidentOf(healthWith('degraded', { ...unusable('2026-11-21T10:12:00.000Z'), ...snapshot }));
    expect(incident).toMatchObject({
      served: 'copy',
      headline: 'Apps get the copy of 10:09:01. At 10:14:01 every call fails.',
      since: '2026-11-21T10:12:00.000Z',
    });
    expect(toTimer(incident, NOW)).toEqual({ value: '0:59', label: 'until calls fail with 503' });
  });

  it('has no start where the certificate is not valid yet', () => {
    const certificate = unusable('2027-11-20T00:00:00.000Z', 'The client certificate is not valid before 2026-11-25.');
    const snapshot = { status: 'down', code: 'certificate-unusable', asOf: null, expiresAt: null };
    const health = healthWith('error', { ...certificate, snapshot });
    expect(incidentOf(health)).toMatchObject({ headline: 'All calls fail with 503.', cause: { since: null } });
    expect(causeOf(health)).toEqual(['The client certificate is not valid before 2026-11-25.']);
    expect(toReport(incidentOf(health), health, NOW)).not.toContain('First failure');
  });

  it('is nothing yet while the first list is read', () => {
    const snapshot = { status: 'down', code: 'bank-slow', owner: 'bank', asOf: null, expiresAt: null, accounts: null };
    expect(incidentOf(healthWith('error', { snapshot }))).toMatchObject({
      served: 'waiting',
      status: 504,
      headline: 'Calls wait for the bank: no list of accounts is cached.',
    });
  });

  it('is current, for now, where a certificate expires: what happens then, and when', () => {
    const certificate = expiring('2026-11-24T08:00:00.000Z', 2);
    const health = healthWith('degraded', { certificate });
    expect(incidentOf(health)).toMatchObject({
      level: 'warn',
      served: 'current',
      headline: 'Apps get current data until 24 Nov 2026, 08:00 UTC.',
      doNow: 'Install a new client certificate before 24 Nov 2026, 08:00 UTC.',
      who: { name: 'The operator of this gateway', contact: '' },
      request: null,
    });
    expect(causeOf(health)).toEqual([
      'The client certificate expires on 24 Nov 2026, 08:00 UTC.',
      'From then on nothing can be read from the bank, and 5 min later every call fails with 503.',
    ]);
    expect(toTimer(incidentOf(health), NOW)).toEqual({ value: '2 days', label: 'until the certificate expires' });
  });

  it('ends with what ends first, a certificate or another failure; the others are named too', () => {
    const certificate = expiring('2026-12-20T08:00:00.000Z', 28);
    const token = { ...failingToken('bank-error', 'bank', 'x').token, status: 'degraded', expiresInSeconds: 50 };
    const list = incidentOf(healthWith('degraded', { certificate, ...FAILING }));
    expect(list).toMatchObject({ cause: { part: 'bank' }, also: [{ part: 'certificate' }] });
    expect(list.headline).toBe('Apps get current data. At 10:17:58 every call fails.');
    const renewal = incidentOf(healthWith('degraded', { certificate, token }));
    expect(renewal).toMatchObject({ headline: 'Apps get current data until 10:13.', cause: { part: 'token' } });
    const listener = expiring('2026-11-23T09:00:00.000Z', 1);
    const two = incidentOf(healthWith('degraded', { certificate, listener }));
    expect(two).toMatchObject({ cause: { part: 'listener' }, also: [{ part: 'certificate' }] });
    const sharing = { status: 'degraded', code: 'sharing-unavailable', owner: 'operator', detail: 'Redis is away.' };
    expect(incidentOf(healthWith('degraded', { sharing, certificate })).cause.part).toBe('certificate');
  });

  it('is data until the token ends, which does not move between two answers of /health', () => {
    const token = { ...failingToken('bank-error', 'bank', 'x').token, status: 'degraded', expiresInSeconds: 50 };
    const later = toIncident(healthWith('degraded', { token }), NOW + 3000, PROBLEMS, NOW);
    expect(later && toTimer(later, NOW + 3000)).toEqual({ value: '0:47', label: 'until the token expires' });
  });

  it('is no connection once the certificate of this API has expired', () => {
    const health = healthWith('degraded', { listener: expiring('2026-11-21T09:00:00.000Z', -1) });
    const incident = incidentOf(health);
    expect(incident).toMatchObject({
      level: 'bad',
      headline: 'Apps cannot connect: the certificate of this API has expired.',
      doNow: 'Install a new certificate for this API now.',
    });
    expect(causeOf(health)).toEqual([
      'The certificate of this API expired on 21 Nov 2026, 09:00 UTC.',
      'From then on, apps do not connect to it.',
    ]);
    expect(toTimer(incident, NOW)).toEqual({ value: '1 h 13 min', label: 'since the certificate expired' });
  });

  it('has no deadline where nothing ends', () => {
    const sharing = { status: 'degraded', code: 'sharing-unavailable', owner: 'operator', detail: 'Redis is away.' };
    const incident = incidentOf(healthWith('degraded', { sharing }));
    expect(incident).toMatchObject({ headline: 'Apps get current data.', doNow: 'Repair the Redis of REDIS_URL.' });
    expect(toTimer(incident, NOW)).toBeNull();
  });

  it('is not known while the gateway does not answer', () => {
    const gone = new GatewayProblem({ code: 'network-error', owner: 'network', message: 'x' });
    const incident = toGoneIncident(gone, '2026-11-21T10:12:00.000Z', PROBLEMS);
    const cause = { title: 'The gateway does not answer' };
    expect(incident).toMatchObject({
      served: 'unknown',
      headline: 'The gateway does not answer.',
      cause,
      request: null,
    });
    expect(toTimer(incident, NOW)).toBeNull();
  });
});

describe('what to do', () => {
  it('is due now where the cause does not heal, though a copy is served; the allowlist has our address', () => {
    const detail = 'The token endpoint answered 401: user name or password is wrong, or our address is not allowed.';
    const health = healthWith('degraded', {
      ...failingToken('credentials-rejected', 'operator', detail),
      ...copyUntil('10:17:01', 'credentials-rejected'),
    });
    expect(incidentOf(health)).toMatchObject({
      headline: 'Apps get the copy of 10:09:01. At 10:17:01 every call fails.',
      doNow: 'Put the right BANK_USERNAME and BANK_PASSWORD in place now.',
      who: { name: 'The operator of this gateway', contact: '', note: 'The bank sees us as 203.0.113.7.' },
    });
    expect(causeOf(health)).toEqual([
      'The bank answers the token request with ',
      '401',
      ' since 10:09:13',
      'User name or password is wrong, or our address is not allowed.',
    ]);
  });

  it('names settings that would help', () => {
    const details = { egress: { publicAddress: null }, bank: { ...FAILING.bank, support: null } };
    const health = healthWith('degraded', { ...details, ...copyUntil('10:17:01') });
    expect(incidentOf(health).who.contact).toBe('Set BANK_SUPPORT to show its contact.');
  });
});

describe('the path', () => {
  it('is checked as a whole when all is well', () => {
    expect(pathOf(healthWith('ok'))).toEqual([
      'Certificate ok: 364 days left',
      'Network ok: direct',
      'Token service ok: valid, renewed automatically',
      'Account list ok: answers',
      'Snapshot ok: 120 accounts',
      'Your apps ok: no call this minute',
    ]);
  });

  it('is not checked after the stage that is broken', () => {
    const token = failingToken('bank-error', 'bank', 'The token endpoint answered 503.');
    expect(pathOf(healthWith('degraded', { ...token, ...copyUntil('10:14:01') })).slice(2)).toEqual([
      'Token service bad: 503 since 10:09:13',
      'Account list unknown: not checked',
      'Snapshot warn: 10:09:01, copy',
      'Your apps warn: get the copy',
    ]);
  });
});

it('the path counts the last hours of a certificate as less than a day, and only then says expired', () => {
  const certificateOf = (notAfter: string) => pathOf(healthWith('degraded', { certificate: expiring(notAfter, 0) }))[0];
  expect(certificateOf('2026-11-21T15:13:00.000Z')).toBe('Certificate warn: less than a day left');
  expect(certificateOf('2026-11-21T10:13:02.000Z')).toBe('Certificate warn: expired');
});

it('the path ends at a proxy that does not work: what is behind it is not checked', () => {
  const egress = { status: 'degraded', code: 'proxy-refused', owner: 'network', detail: 'It answered 403.' };
  expect(pathOf(healthWith('degraded', { egress })).slice(0, 4)).toEqual([
    'Certificate ok: 364 days left',
    'Network warn: proxy refused',
    'Token service unknown: not checked',
    'Account list unknown: not checked',
  ]);
});

describe('texts to copy', () => {
  const health = healthWith('degraded', { ...FAILING, ...copyUntil('10:14:01') });

  it('the report has who we are, since when, what was asked and answered, our address and a request', () => {
    expect(toReport(incidentOf(health), health, NOW)).toBe(
      `The bank returned a server error since 2026-11-21 10:09:13 UTC

We read accounts through your API, with the client certificate named below.

Our request      GET, the account list
Host             api.bank.example
Response         The account list answered 503.
First failure    2026-11-21 10:09:13 UTC
Attempts         14
Last success     2026-11-21 10:09:01 UTC
Our address      203.0.113.7
Our certificate  CN=m2m
Its thumbprint   AB12 (SHA-1)
It expires on    2027-11-20 00:00:00 UTC
Our system       accounts-gateway 0.1.0 production gw-2
Report created   2026-11-21 10:13:02 UTC

Please tell us what is wrong, and when your service will answer again.
`,
    );
  });

  it('the report names the host of the token service, if that is what fails', () => {
    const { token, bank } = failingToken('bank-error', 'bank', 'The token endpoint answered 503.');
    const change = { bank, ...copyUntil('10:14:01') };
    const hostOf = (failing: Health) => /^Host +(.*)$/m.exec(toReport(incidentOf(failing), failing, NOW))?.[1];
    const ofToken = healthWith('degraded', { ...change, token: { ...token, host: 'login.bank.example' } });
    expect([hostOf(ofToken), hostOf(health)]).toEqual(['login.bank.example', 'api.bank.example']);
  });

  it('the note of an empty copy warns of the list; that of calls that wait names the code that they end with', () => {
    const empty = healthWith('degraded', { ...FAILING, ...emptyUntil('10:14:01') });
    expect(toNote(incidentOf(empty), empty, NOW)).toContain('Do not read the empty list as "no accounts".');
    const snapshot = { status: 'down', code: 'bank-slow', owner: 'bank', asOf: null, expiresAt: null, accounts: null };
    const waiting = healthWith('error', { snapshot });
    expect(toNote(incidentOf(waiting), waiting, NOW)).toContain('Calls wait, then fail with 504 bank-timeout.');
  });

  it('the note for app teams has what calls return and what to show', () => {
    expect(toNote(incidentOf(health), health, NOW)).toBe(
      `accounts-gateway 0.1.0 production gw-2, 2026-11-21 10:13:02 UTC

Apps get the copy of 10:09:01. At 10:14:01 every call fails. (Times are UTC.)
Cause: The bank returned a server error (bank-error), since 2026-11-21 10:09:13 UTC.
Your app gets snapshot.stale = true. Show snapshot.asOf beside the balances, and remove them after snapshot.expiresAt.
`,
    );
  });
});
