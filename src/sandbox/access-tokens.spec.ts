import { describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from './access-tokens.js';

const MINE = 'A'.repeat(40);
const OTHER = 'B'.repeat(40);

describe('AccessTokens', () => {
  it('takes its own token with its own certificate, or with none', async () => {
    const tokens = await AccessTokens.create();
    const { token, number } = await tokens.issue(MINE, 'user', 60);
    expect(await tokens.check(token, MINE)).toEqual({ good: true, number });
    expect(await tokens.check(token, null)).toEqual({ good: true, number });
    expect(await tokens.check(token, OTHER)).toMatchObject({ good: false, number });
  });

  it('refuses what it did not sign', async () => {
    const [mine, theirs] = await Promise.all([AccessTokens.create(), AccessTokens.create()]);
    const { token } = await theirs.issue(MINE, 'user', 60);
    const [header, payload] = (await mine.issue(MINE, 'user', 60)).token.split('.');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    for (const bad of [token, '', 'a.b.c', unsigned, `${header}.${payload}.`]) {
      expect(await mine.check(bad, MINE)).toMatchObject({ good: false, number: null });
    }
  });

  it('ends a token with its lifetime, to the millisecond, and not before', async () => {
    const tokens = await AccessTokens.create();
    const { token } = await tokens.issue(MINE, 'user', 0.2);
    expect((await tokens.check(token, MINE)).good).toBe(true);
    await sleep(220);
    expect(await tokens.check(token, MINE)).toMatchObject({ good: false, reason: 'The token expired.' });
  });

  it('revokes what was issued before, not after, and takes it back', async () => {
    const tokens = await AccessTokens.create();
    const before = await tokens.issue(MINE, 'user', 60);
    tokens.revokeAll();
    const after = await tokens.issue(MINE, 'user', 60);
    expect((await tokens.check(before.token, MINE)).good).toBe(false);
    expect((await tokens.check(after.token, MINE)).good).toBe(true);
    tokens.pardonAll();
    expect((await tokens.check(before.token, MINE)).good).toBe(true);
    expect(tokens.count).toBe(2);
  });

  it('names the certificate in the token, as x5t (RFC 7515)', async () => {
    const { token } = await (await AccessTokens.create()).issue('00FF'.repeat(10), 'user', 60);
    expect(decodeJwt(token)['cnf']).toEqual({ x5t: Buffer.from('00FF'.repeat(10), 'hex').toString('base64url') });
  });
});
