import { beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import {
  askAccounts,
  askToken,
  basic,
  call,
  control,
  directoryWithOtherIdentity,
  getToken,
  ownCertificate,
  siblingCertificate,
  start,
} from '../support/sandbox.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

describe('the token endpoint', () => {
  let bank: Sandbox;
  beforeAll(async () => {
    bank = await start();
  });

  it('issues a signed token bound to the certificate, with expires_in as a string', async () => {
    const reply = await askToken(bank);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    const { access_token, ...rest } = reply.json as Record<string, string>;
    expect(rest).toEqual({ expires_in: '300', token_type: 'Bearer' });
    const claims = decodeJwt(access_token ?? '');
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
    expect(claims.jti).toMatch(/^[0-9a-f-]{36}$/);
    const thumbprint = Buffer.from(bank.requests.at(-1)?.thumbprint ?? '', 'hex').toString('base64url');
    expect(claims['cnf']).toEqual({ x5t: thumbprint });
  });

  it.each([
    ['no Authorization', undefined],
    ['another scheme', 'Bearer abc'],
    ['no UTF-8 inside', `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`],
  ])('returns AuthorizationParseFailure for %s', async (_name, authorization) => {
    const reply = await askToken(bank, { headers: { authorization } });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ errors: [{ errorCode: 'AuthorizationParseFailure' }] });
  });

  it('returns 401 with problem details for a wrong user or password', async () => {
    const [user = '', password = ''] = Buffer.from(basic(bank).slice(6), 'base64').toString().split(':');
    for (const pair of [`${user}:wrong`, `wrong:${password}`]) {
      const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
      const reply = await askToken(bank, { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(reply.headers['content-type']).toContain('application/problem+json');
      expect(reply.json).toMatchObject({ status: 401, title: 'Unauthorized' });
    }
  });

  it('requires Content-Type, GET and an empty body', async () => {
    const missing = await askToken(bank, { headers: { 'content-type': undefined } });
    expect(missing.status).toBe(400);
    expect(missing.json).toHaveProperty('errors.0.errorCode');
    expect((await askToken(bank, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect(await askToken(bank, { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    expect((await askToken(bank, { body: '{}', headers: { 'content-length': '2' } })).status).toBe(400);
  });

  it('returns 403 for an address that is not on the allowlist, and 200 once it is', async () => {
    await control(bank, 'PATCH', { allowedIps: ['10.0.0.0/8'] });
    expect((await askToken(bank)).status).toBe(403);
    await control(bank, 'PATCH', { allowedIps: ['127.0.0.0/8'] });
    expect((await askToken(bank)).status).toBe(200);
  });

  it.each([
    ['reset', 'bank-unreachable'],
    ['drop', 'bank-timeout'],
  ])(
    'with unlisted %s, such an address never gets to TLS, and the gateway names the allowlist',
    async (unlisted, code) => {
      const firewalled = await start({ SANDBOX_ALLOWED_IPS: ['10.0.0.0/8'] });
      await control(firewalled, 'PATCH', { unlisted });
      const gateway = await startGateway(firewalled, { BANK_CONNECT_TIMEOUT_MS: '300' });
      expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({ code });
      const { json } = await gateway.get(`/problems/${code}`, { accept: 'application/json' });
      expect(JSON.stringify(json)).toMatch(/on its allowlist/);
      await control(firewalled, 'PATCH', { allowedIps: ['127.0.0.1'] });
      expect((await askToken(firewalled)).status).toBe(200);
    },
  );
});

interface List {
  result: { accountId: string; balances: { intraDayAmount: number }[] | null }[];
  pageInfo: { currentPage: number; pageSize: number; rowCount: number };
}

describe('the account list', () => {
  let bank: Sandbox;
  let token: string;
  const list = async (query = ''): Promise<List> => (await askAccounts(bank, token, query)).json as List;
  beforeAll(async () => {
    bank = await start();
    token = await getToken(bank);
  });

  it('returns 50 accounts and pageInfo without parameters', async () => {
    const reply = await askAccounts(bank, token, '', { headers: { 'x-request-id': 'refresh-1' } });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-request-id']).toBe('refresh-1');
    const { result, pageInfo } = reply.json as List;
    expect(result).toHaveLength(50);
    expect(pageInfo).toEqual({ currentPage: 1, pageSize: 50, rowCount: 120 });
    expect(bank.requests.at(-1)).toMatchObject({
      endpoint: 'accounts',
      requestId: 'refresh-1',
      pageNumber: 1,
      pageSize: 50,
      status: 200,
      tokenNumber: 1,
    });
  });

  it('returns every account once over its pages, whatever the letter case of the parameters', async () => {
    const pages = await Promise.all([1, 2, 3].map((n) => list(`?pagenumber=${n}&PAGESIZE=50&other=1`)));
    expect(pages.map(({ result }) => result.length)).toEqual([50, 50, 20]);
    expect(new Set(pages.flatMap(({ result }) => result.map(({ accountId }) => accountId))).size).toBe(120);
    expect((await list('?PageNumber=4')).result).toEqual([]);
    expect((await list('?PageSize=5000')).result).toHaveLength(120);
  });

  it.each([
    ['PageSize=5001', 'PageSize'],
    ['PageNumber=1.5', 'PageNumber'],
    ['PageNumber=1&pagenumber=2', 'PageNumber'],
  ])('returns a validation problem for %s', async (query, name) => {
    const reply = await askAccounts(bank, token, `?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(reply.json).toMatchObject({ errors: { [name]: [expect.any(String)] } });
  });

  it('keeps the digits of amounts', async () => {
    const { text } = await askAccounts(bank, token);
    for (const digits of ['19435.50', '12345678901234567.89', '-0.01', '1.5E3', '999', '88.000']) {
      expect(text).toContain(`Amount":${digits},`);
    }
  });

  it('requires Accept, GET and a valid token', async () => {
    for (const accept of [undefined, '*/*', 'text/html', 'application/json;q=0']) {
      expect((await askAccounts(bank, token, '', { headers: { accept } })).status).toBe(406);
    }
    const several = { headers: { accept: 'text/plain, application/json;q=0.9' } };
    expect((await askAccounts(bank, token, '', several)).status).toBe(200);
    expect((await askAccounts(bank, token, '', { method: 'POST' })).status).toBe(405);
    expect((await askAccounts(bank, `${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
    expect((await askAccounts(bank, '', '', { headers: { authorization: undefined } })).status).toBe(401);
  });

  it('returns 404 without a grant, and 403 for an address that is not allowed', async () => {
    await control(bank, 'PATCH', { grantAccess: false });
    expect((await askAccounts(bank, token)).status).toBe(404);
    await control(bank, 'PATCH', { grantAccess: true, allowedIps: [] });
    expect((await askAccounts(bank, token)).status).toBe(403);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('rejects a token after its lifetime', async () => {
    await control(bank, 'PATCH', { tokenLifetimeSeconds: 1 });
    const short = (await askToken(bank)).json as { access_token: string; expires_in: string };
    await control(bank, 'PATCH', { tokenLifetimeSeconds: 300 });
    expect(short.expires_in).toBe('1');
    expect((await askAccounts(bank, short.access_token)).status).toBe(200);
    await until(async () => (await askAccounts(bank, short.access_token)).status === 401);
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('rejects revoked tokens, and accepts new ones', async () => {
    const old = await getToken(bank);
    await control(bank, 'PATCH', { revokeTokens: true });
    expect((await askAccounts(bank, old)).status).toBe(401);
    expect((await askAccounts(bank, await getToken(bank))).status).toBe(200);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, old)).status).toBe(200);
  });

  it('grows and shrinks without changing the accounts that stay', async () => {
    const before = await list('?PageSize=10');
    await control(bank, 'PATCH', { accounts: 20_000 });
    const after = await list('?PageSize=10');
    expect(after.result).toEqual(before.result);
    expect(after.pageInfo.rowCount).toBe(20_000);
    expect((await list('?PageSize=5000&PageNumber=4')).result).toHaveLength(5000);
    await control(bank, 'PATCH', { accounts: 0 });
    expect((await list()).result).toEqual([]);
    await control(bank, 'DELETE');
  });

  it('changes balances over time only while movement is on', async () => {
    const before = (await askAccounts(bank, token)).text;
    expect((await askAccounts(bank, token)).text).toBe(before);
    await control(bank, 'PATCH', { movement: true });
    let moved = before;
    await until(async () => (moved = (await askAccounts(bank, token)).text) !== before);
    const still = (text: string): string => text.replaceAll(/"intraDayAmount":[^,]+/g, '');
    expect(still(moved)).toBe(still(before));
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).text).toBe(before);
  });
});

const none = { pfx: undefined, passphrase: undefined };

describe('the sandbox on one port', () => {
  let bank: Sandbox;
  let other: Sandbox;
  beforeAll(async () => {
    bank = await start();
    other = await start({ SANDBOX_DIRECTORY: await directoryWithOtherIdentity() });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'ends the handshake of a client without certificate (%s)',
    async (version) => {
      const before = bank.requests.length;
      await expect(askToken(bank, { ...none, maxVersion: version })).rejects.toThrow(/alert|ECONNRESET|socket/);
      await expect(askAccounts(bank, 'x', '', { ...none, maxVersion: version })).rejects.toThrow(
        /alert|ECONNRESET|socket/,
      );
      expect(bank.requests).toHaveLength(before);
      expect((await control(bank, 'GET')).json['handshakesFailed']).toBeGreaterThan(0);
    },
  );

  it('rejects a certificate of another CA', async () => {
    await expect(askToken(bank, ownCertificate(other))).rejects.toThrow();
  });

  it('rejects a token that is sent with another valid certificate', async () => {
    const token = await getToken(bank);
    expect((await askAccounts(bank, token)).status).toBe(200);
    const sibling = await siblingCertificate(bank);
    expect((await askToken(bank, sibling)).status).toBe(200);
    expect((await askAccounts(bank, token, '', sibling)).status).toBe(401);
  });
});

describe('the sandbox with a separate authorization host', () => {
  let bank: Sandbox;
  let other: Sandbox;
  beforeAll(async () => {
    bank = await start({ SANDBOX_AUTH_PORT: 0 });
    other = await start({ SANDBOX_DIRECTORY: await directoryWithOtherIdentity() });
  });

  it('serves each path only on its own host', async () => {
    expect(bank.authUrl).not.toBe(bank.url);
    const tls = ownCertificate(bank);
    expect((await askToken(bank)).status).toBe(200);
    expect((await askAccounts(bank, await getToken(bank))).status).toBe(200);
    expect((await call(bank, `${bank.url}/api/v1/authorizations/authorize`, tls)).status).toBe(404);
    expect((await call(bank, `${bank.authUrl}/api/v1/accounts`, tls)).status).toBe(404);
  });

  it('requires the certificate for a token, not for accounts', async () => {
    await expect(askToken(bank, none)).rejects.toThrow();
    const token = await getToken(bank);
    expect((await askAccounts(bank, token, '', none)).status).toBe(200);
    expect(bank.requests.at(-1)).toMatchObject({ thumbprint: null, endpoint: 'accounts' });
    expect((await askAccounts(bank, 'no.such.token', '', none)).status).toBe(401);
  });

  it('rejects a token with any certificate but its own, whatever the CA', async () => {
    const token = await getToken(bank);
    expect((await askAccounts(bank, token, '', ownCertificate(other))).status).toBe(401);
    expect((await askAccounts(bank, token, '', await siblingCertificate(bank))).status).toBe(401);
  });
});
