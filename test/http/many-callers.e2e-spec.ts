import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SnapshotCache } from '../../src/snapshot/snapshot-cache.js';
import { holdAccounts } from '../support/bank-for-file.js';
import { connectionsOf, expectCommonConditions, faultOf } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { codeOf, sendRaw } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const PATH = '/api/v1/accounts';
/** A gateway whose bank responds when the test lets it. */
const PATIENT = { BANK_REQUEST_TIMEOUT_MS: '60000', REQUEST_DEADLINE_MS: '60000' };
const GET = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('many callers at once', () => {
  it('300 callers who disconnect early are logged with 499, leave no connection behind, and cost the bank one call', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    // callers who have left do not count as waiting
    const gateway = await startGateway(bank, { ...PATIENT, MAX_REQUESTS_WAITING: '150' });
    const stays = gateway.get(PATH);
    await until(() => bank.requests.length === 2);
    for (let left = 0; left < 300; left += 100) {
      const sockets = Array.from({ length: 100 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
      for (const socket of sockets) socket.write(GET);
      await until(() => gateway.app.get(SnapshotCache).status().callersWaiting === 101);
      for (const [index, socket] of sockets.entries()) {
        if (index % 2) socket.resetAndDestroy();
        else socket.destroy();
      }
      await until(async () => (await connectionsOf(gateway)) === 1);
    }
    const lines = gateway.events('request');
    expect(lines).toHaveLength(300);
    expect(lines.every(({ status }) => status === 499)).toBe(true);
    letGo();
    const answer = await stays;
    expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
    expect(bank.requests.filter(({ path }) => path.startsWith(PATH))).toHaveLength(1);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('400 callers of a slow bank each get a response or overloaded, and /health/live responds', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    const gateway = await startGateway(bank, { ...PATIENT, MAX_REQUESTS_WAITING: '100' });
    const calls = Promise.all(Array.from({ length: 400 }, () => gateway.get(PATH)));
    await until(() => gateway.events('request').length === 300);
    expect((await gateway.get('/health/live')).status).toBe(200);
    letGo();
    const answers = await calls;
    expect(answers.map((answer) => faultOf(answer)).filter(Boolean)).toEqual([]);
    const refused = answers.filter(({ status }) => status !== 200).map((answer) => codeOf(answer));
    expect(refused).toEqual(Array<string>(300).fill('overloaded'));
    expect((await gateway.get(PATH)).status).toBe(200);
  });

  it('connections beyond MAX_CONNECTIONS are closed at once, probes too; the others are served', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank, { MAX_CONNECTIONS: '10' });
    const held = Array.from({ length: 10 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
    await until(async () => (await connectionsOf(gateway)) === 10);
    const probe = await sendRaw(gateway.port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(probe.answers).toEqual([]);
    expect(probe.end).not.toBe('open');
    const [inside] = held;
    inside?.write(GET);
    const served = await new Promise<string>((resolve) => inside?.once('data', (chunk) => resolve(String(chunk))));
    expect(served).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of held) socket.destroy();
    await until(async () => (await connectionsOf(gateway)) === 0);
    expect((await gateway.get(PATH)).status).toBe(200);
  });

  it('50 callers who never finish their header get 408 in time, and others are served', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank);
    const begun = 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
    const slow = Array.from({ length: 50 }, (_, index) =>
      // some send nothing
      sendRaw(gateway.port, index % 10 ? begun : '', { waitMs: 18_000, enough: 2 }),
    );
    await until(async () => (await connectionsOf(gateway)) === 50);
    expect((await gateway.get(PATH)).status).toBe(200);
    for (const { answers, end } of await Promise.all(slow)) {
      expect(answers.map((answer) => [faultOf(answer), codeOf(answer)])).toEqual([[null, 'request-timeout']]);
      expect(end).toBe('closed');
    }
  });
});
