import { beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { askToken, basic, control, start } from '../support/sandbox.js';

describe('the token endpoint', () => {
  let bank: Sandbox;
  beforeAll(async () => {
    bank = await start();
  });

  it('gives a signed token bound to the certificate, expires_in as a string', async () => {
    const reply = await askToken(bank);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    const { access_token, ...rest } = JSON.parse(reply.text) as Record<string, string>;
    expect(rest).toEqual({ expires_in: '300', token_type: 'Bearer' });
    const claims = decodeJwt(access_token ?? '');
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
    expect(claims.jti).toMatch(/^[0-9a-f-]{36}$/);
    const thumbprint = Buffer.from(bank.requests.at(-1)?.thumbprint ?? '', 'hex').toString('base64url');
    expect(claims['cnf']).toEqual({ x5t: thumbprint });
  });

  it('never gives the same token twice', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => askToken(bank)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(10);
  });

  it.each([
    ['no Authorization', undefined],
    ['another scheme', 'Bearer abc'],
    ['no base64', 'Basic %%%'],
    ['no colon inside', `Basic ${Buffer.from('nocolon').toString('base64')}`],
    ['no UTF-8 inside', `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`],
  ])('answers AuthorizationParseFailure to %s', async (_name, authorization) => {
    const reply = await askToken(bank, { headers: { authorization } });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toMatchObject({ errors: [{ errorCode: 'AuthorizationParseFailure' }] });
  });

  it('answers 401 with problem details to a wrong user or password', async () => {
    const [user = '', password = ''] = Buffer.from(basic(bank).slice(6), 'base64').toString().split(':');
    for (const pair of [`${user}:wrong`, `wrong:${password}`, `${user}:${password} `, ':']) {
      const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
      const reply = await askToken(bank, { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(reply.headers['content-type']).toContain('application/problem+json');
      expect(JSON.parse(reply.text)).toMatchObject({ status: 401, title: 'Unauthorized' });
    }
  });

  it('insists on Content-Type, on GET and on no body', async () => {
    const missing = await askToken(bank, { headers: { 'content-type': undefined } });
    expect(missing.status).toBe(400);
    expect(JSON.parse(missing.text)).toHaveProperty('errors.0.errorCode');
    expect((await askToken(bank, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await askToken(bank, { headers: { 'content-type': 'application/json; charset=utf-8' } })).status).toBe(200);
    const post = await askToken(bank, { method: 'POST' });
    expect(post.status).toBe(405);
    expect(post.headers.allow).toBe('GET');
    const headers = { 'content-length': '2' };
    expect((await askToken(bank, { body: '{}', headers })).status).toBe(400);
  });

  it('answers 403 to an address that is not on the allowlist, and 200 once it is', async () => {
    await control(bank, 'PATCH', { allowedIps: ['10.0.0.0/8'] });
    expect((await askToken(bank)).status).toBe(403);
    await control(bank, 'PATCH', { allowedIps: ['127.0.0.0/8'] });
    expect((await askToken(bank)).status).toBe(200);
  });
});
