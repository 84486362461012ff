import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Fault } from '../../src/sandbox/faults.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { askAccounts, askToken, control, getToken, start } from '../support/sandbox.js';

describe('failNext', () => {
  let bank: Sandbox;
  let token: string;
  const order = (fault: Fault, times = 1): Promise<unknown> =>
    control(bank, 'PATCH', { failNext: { endpoint: 'accounts', times, with: fault } });
  beforeEach(async () => {
    bank = await start();
    token = await getToken(bank);
  });

  it.each(['401', '404', '503'] as const)('%s is a problem', async (fault) => {
    await order(fault);
    const reply = await askAccounts(bank, token);
    expect(reply.status).toBe(Number(fault));
    expect(JSON.parse(reply.text)).toMatchObject({ status: Number(fault) });
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('500 has no body, 429 a Retry-After', async () => {
    await order('500');
    await order('429');
    expect(await askAccounts(bank, token)).toMatchObject({ status: 500, text: '' });
    expect(await askAccounts(bank, token)).toMatchObject({ status: 429, headers: { 'retry-after': '2' } });
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('html is the page of a firewall, malformed is broken JSON, both with 200', async () => {
    await order('html');
    const page = await askAccounts(bank, token);
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    await order('malformed');
    const broken = await askAccounts(bank, token);
    expect(broken.status).toBe(200);
    expect(broken.headers['content-type']).toContain('application/json');
    expect(() => JSON.parse(broken.text) as unknown).toThrow();
  });

  it('truncate ends within the body, reset resets', async () => {
    await order('truncate');
    await expect(askAccounts(bank, token)).rejects.toThrow(/aborted/);
    await order('reset');
    await expect(askAccounts(bank, token)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(bank.requests.at(-1)).toMatchObject({ fault: 'reset', status: null });
    expect((await askAccounts(bank, token)).status).toBe(200);
  });

  it('hang never answers, and does not hold up close()', async () => {
    await order('hang');
    const answer = askAccounts(bank, token).then(
      () => 'answered',
      () => 'ended',
    );
    while (!bank.requests.some(({ fault }) => fault === 'hang')) await new Promise(setImmediate);
    const before = performance.now();
    await bank.close();
    expect(performance.now() - before).toBeLessThan(3000);
    expect(await answer).toBe('ended');
  });

  it('lasts for so many times, in the order given, for its own endpoint only', async () => {
    const failNext = [
      { endpoint: 'accounts', times: 2, with: '503' },
      { endpoint: 'authorize', times: 1, with: '401' },
      { endpoint: 'accounts', times: 1, with: '404' },
    ];
    await control(bank, 'PATCH', { failNext });
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) statuses.push((await askAccounts(bank, token)).status);
    const pending = (await control(bank, 'GET')).json['failNext'];
    expect(pending).toEqual([
      { endpoint: 'authorize', times: 1, with: '401' },
      { endpoint: 'accounts', times: 1, with: '404' },
    ]);
    for (let i = 0; i < 2; i++) statuses.push((await askAccounts(bank, token)).status);
    expect(statuses).toEqual([503, 503, 404, 200]);
    expect([(await askToken(bank)).status, (await askToken(bank)).status]).toEqual([401, 200]);
  });

  it('is forgotten by DELETE', async () => {
    await order('503', 100);
    await control(bank, 'DELETE');
    expect((await askAccounts(bank, token)).status).toBe(200);
  });
});

describe('latencyMs', () => {
  it('delays every answer, and not close()', async () => {
    const bank = await start({ latencyMs: 300 });
    const before = performance.now();
    expect((await askToken(bank)).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThanOrEqual(295);
    await control(bank, 'PATCH', { latencyMs: 60_000 });
    const answer = askToken(bank).catch(() => 'ended');
    while (bank.requests.length < 2) await new Promise(setImmediate);
    await bank.close();
    expect(await answer).toBe('ended');
  });
});
