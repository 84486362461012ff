import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Fault } from '../../src/sandbox/state/faults.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { call } from '../support/call.js';
import { askAccounts, askToken, basic, control, getToken, start } from '../support/sandbox.js';

const START = {
  latencyMs: 0,
  tokenLifetimeSeconds: 300,
  grantAccess: true,
  allowedIps: ['127.0.0.1', '::1'],
  unlisted: '403',
  accounts: 120,
  movement: false,
  failNext: [],
};

describe('the control port', () => {
  let bank: Sandbox;
  beforeAll(async () => {
    bank = await start();
  });

  const ask = (options: Parameters<typeof call>[1] = {}) => call(`${bank.controlUrl}/control`, options);

  it.each([
    [403, { headers: { origin: 'http://evil.example' } }],
    [403, { headers: { origin: 'null' } }],
    [403, { headers: { 'sec-fetch-site': 'cross-site' } }],
    [421, { headers: { host: 'evil.example' } }],
    [405, { method: 'POST' }],
  ])('returns %i for %j: pages of other origins and other methods are rejected', async (status, options) => {
    expect((await ask({ method: 'DELETE', ...options })).status).toBe(status);
    expect((await ask()).status).toBe(200);
  });

  it('shows the state and the last requests, without any secret', async () => {
    const token = await getToken(bank);
    await askAccounts(bank, token, '?PageNumber=2&PageSize=7&secret=abc', { headers: { 'x-request-id': 'r-1' } });
    const { status, json } = await control(bank, 'GET');
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...START, tokensIssued: 1 });
    expect((json['requests'] as object[]).at(-1)).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      endpoint: 'accounts',
      method: 'GET',
      path: '/api/v1/accounts',
      status: 200,
      fault: null,
      thumbprint: expect.stringMatching(/^[0-9A-F]{40}$/),
      clientAddress: '127.0.0.1',
      pageNumber: 2,
      pageSize: 7,
      requestId: 'r-1',
      tokenNumber: 1,
      headerNames: expect.arrayContaining(['accept', 'authorization', 'x-request-id']),
    });
    const text = JSON.stringify(json);
    const secrets = [token, basic(bank).slice(6), 'secret=abc'];
    for (const file of [bank.files.passcode, bank.files.password]) secrets.push(readFileSync(file, 'utf8'));
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('changes the switches in a PATCH, and DELETE resets them', async () => {
    const others = { tokenLifetimeSeconds: 60, grantAccess: false, allowedIps: ['10.0.0.0/8'], accounts: 3 };
    const change = { latencyMs: 1, movement: true, ...others };
    expect(await control(bank, 'PATCH', change)).toMatchObject({ status: 200, json: change });
    expect((await control(bank, 'PATCH', {})).json).toMatchObject(change);
    expect((await control(bank, 'DELETE')).json).toMatchObject(START);
  });

  it('changes the password from now on, shows it nowhere, and restores the first one with DELETE', async () => {
    const user = readFileSync(bank.files.username, 'utf8');
    const authorization = `Basic ${Buffer.from(`${user}:new-secret`).toString('base64')}`;
    const statuses = async () =>
      Promise.all([askToken(bank), askToken(bank, { headers: { authorization } })]).then((all) =>
        all.map(({ status }) => status),
      );
    const token = await getToken(bank);
    const { status, json } = await control(bank, 'PATCH', { password: 'new-secret' });
    expect([status, await statuses(), (await askAccounts(bank, token)).status]).toEqual([200, [401, 200], 200]);
    expect(JSON.stringify([json, (await control(bank, 'GET')).json])).not.toContain('new-secret');
    expect((await control(bank, 'PATCH', { password: 'a\nb' })).status).toBe(400);
    await control(bank, 'DELETE');
    expect(await statuses()).toEqual([200, 401]);
  });

  it.each([
    [{ latencyMs: 'x' }, 'latencyMs must be a whole number from 0 to 600000'],
    [{ accounts: 1e9 }, 'accounts must be a whole number from 0 to 200000'],
    [{ accounts: 1.5 }, 'accounts must be a whole number from 0 to 200000'],
    [{ movement: 1 }, 'movement must be true or false'],
    [{ revokeTokens: false }, 'revokeTokens must be true'],
    [{ allowedIps: '::1' }, 'allowedIps must be a list of at most 1000'],
    [{ failNext: '503' }, 'failNext.0 must be an object with endpoint, with and optionally times'],
    [{ failNext: { endpoint: 'accounts', with: '503', time: 2 } }, 'failNext.0.time is not a known property'],
    [[], 'the body must be a JSON object'],
  ])('rejects %j in words, not in those of a library', async (patch, problem) => {
    const { status, json } = await control(bank, 'PATCH', patch);
    expect([status, json['problems']]).toEqual([400, [problem]]);
  });

  it('rejects a PATCH as a whole if a part is invalid, and names that part', async () => {
    const failNext = { endpoint: 'accounts', with: '418' };
    const patch = { accounts: 5, latencyMS: 10, allowedIps: ['nonsense'], failNext };
    const { status, json } = await control(bank, 'PATCH', patch);
    expect(status).toBe(400);
    expect(json['allowed']).toContain('latencyMs');
    expect(json['problems']).toEqual([
      expect.stringMatching(/^allowedIps\.0 must be an IP address or a CIDR/),
      expect.stringMatching(/^failNext\.0\.with must be one of 401, /),
      expect.stringMatching(/^latencyMS is not a switch; these are: latencyMs, /),
    ]);
    expect((await control(bank, 'GET')).json).toMatchObject({ accounts: 120 });
  });
});

describe('failNext', () => {
  let bank: Sandbox;
  let token: string;
  const failWith = (fault: Fault, times = 1): Promise<unknown> =>
    control(bank, 'PATCH', { failNext: { endpoint: 'accounts', times, with: fault } });
  beforeAll(async () => {
    bank = await start();
    token = await getToken(bank);
  });

  it.each<[Fault, object]>([
    ['401', { status: 401, text: expect.stringContaining('"status":401') }],
    ['404', { status: 404, text: expect.stringContaining('"status":404') }],
    ['503', { status: 503, text: expect.stringContaining('"status":503') }],
    ['500', { status: 500, text: '' }],
    ['429', { status: 429, headers: expect.objectContaining({ 'retry-after': '2' }) }],
    ['html', { status: 200, headers: expect.objectContaining({ 'content-type': 'text/html; charset=utf-8' }) }],
    ['malformed', { status: 200 }],
  ])('with %s fails the next request accordingly, once', async (fault, expected) => {
    await failWith(fault);
    const reply = await askAccounts(bank, token);
    if (fault === 'malformed') expect(() => JSON.parse(reply.text) as unknown).toThrow();
    expect(reply).toMatchObject(expected);
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('with 401 asks for the scheme of its endpoint', async () => {
    await failWith('401');
    expect((await askAccounts(bank, token)).headers['www-authenticate']).toMatch(/^Bearer /);
    await control(bank, 'PATCH', { failNext: { endpoint: 'authorize', with: '401' } });
    expect((await askToken(bank)).headers['www-authenticate']).toMatch(/^Basic /);
  });

  it('with truncate cuts the body off, with reset resets the connection', async () => {
    await failWith('truncate');
    await expect(askAccounts(bank, token)).rejects.toThrow(/aborted/);
    await failWith('reset');
    await expect(askAccounts(bank, token)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(bank.requests.at(-1)).toMatchObject({ fault: 'reset', status: null });
  });

  it('applies to as many requests as ordered, in order, only to its own endpoint, and DELETE ends it', async () => {
    const failNext = [
      { endpoint: 'accounts', times: 2, with: '503' },
      { endpoint: 'authorize', times: 1, with: '401' },
      { endpoint: 'accounts', times: 1, with: '404' },
    ];
    await control(bank, 'PATCH', { failNext });
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) statuses.push((await askAccounts(bank, token)).status);
    expect((await control(bank, 'GET')).json['failNext']).toEqual(failNext.slice(1));
    for (let i = 0; i < 2; i++) statuses.push((await askAccounts(bank, token)).status);
    expect(statuses).toEqual([503, 503, 404, 200]);
    expect([(await askToken(bank)).status, (await askToken(bank)).status]).toEqual([401, 200]);
    await failWith('503', 100);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('keeps the newest 100 faults', async () => {
    const faults = (count: number, fault: Fault) =>
      Array.from({ length: count }, () => ({ endpoint: 'accounts', times: 1, with: fault }));
    await control(bank, 'PATCH', { failNext: faults(60, '503') });
    await control(bank, 'PATCH', { failNext: faults(60, '404') });
    const { failNext } = (await control(bank, 'GET')).json as { failNext: object[] };
    expect(failNext).toEqual([...faults(40, '503'), ...faults(60, '404')]);
    await control(bank, 'DELETE');
  });

  it('with hang never responds, latencyMs delays every response, and neither delays close()', async () => {
    await control(bank, 'PATCH', { latencyMs: 300 });
    const before = performance.now();
    expect((await askToken(bank)).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(295);
    await control(bank, 'PATCH', { latencyMs: 60_000 });
    await failWith('hang');
    const begun = bank.requests.length;
    const answers = [askToken(bank), askAccounts(bank, token)].map((answer) => answer.catch(() => 'ended'));
    while (bank.requests.length < begun + 2) await new Promise(setImmediate);
    await bank.close();
    expect(await Promise.all(answers)).toEqual(['ended', 'ended']);
  });
});
