import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const CALLERS = 300;

describe('callers who leave cost nothing', () => {
  it(`${CALLERS} who hang up while the bank is asked: one reading, which goes on for those who stay`, async () => {
    const bank = await startPretendBank();
    const good = listSample();
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onAccounts = (...args) => void letGo.then(() => good(...args));
    const gateway = await startGateway(bank);
    const stays = gateway.get('/api/v1/accounts');
    await until(() => bank.requests.length === 2);
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, index) => {
        const socket = connect(gateway.port, '127.0.0.1');
        await new Promise((done) => socket.once('connect', done));
        await new Promise((done) =>
          socket.write(`GET /api/v1/accounts?pageSize=${(index % 1000) + 1} HTTP/1.1\r\nHost: localhost\r\n\r\n`, done),
        );
        if (index % 2) socket.resetAndDestroy();
        else socket.destroy();
      }),
    );
    expect((await gateway.get('/health/live')).status).toBe(200);
    resolve();
    const answer = await stays;
    expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
    expect(bank.requests).toHaveLength(2);
    // a caller who left has a line too, unless they left before their request was read
    await until(() => gateway.events('request').length >= 2);
    const left = gateway.events('request').filter(({ status }) => status === 499);
    expect(left.length).toBeGreaterThan(0);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('who leaves while a token is asked for does not end that request', async () => {
    const bank = await startPretendBank();
    const issue = bank.onToken;
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onToken = (...args) => void letGo.then(() => issue(...args));
    const gateway = await startGateway(bank);
    const socket = connect(gateway.port, '127.0.0.1', () =>
      socket.write('GET /api/v1/accounts HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    await until(() => bank.requests.length === 1);
    socket.destroy();
    resolve();
    await until(() => gateway.events('snapshot.refreshed').length === 1);
    const answer = await gateway.get('/api/v1/accounts');
    expect(answer.headers['cache-status']).toMatch(/; hit/);
    expect(bank.requests).toHaveLength(2);
    await expectCommonConditions(bank, gateway, [answer]);
  });
});
