import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import { holdAccounts } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { connectionsOf, expectCommonConditions, faultOf } from '../support/common-conditions.js';
import { startGateway, call } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { codeOf, sendRaw } from '../support/raw-connection.js';
import { listSample, sampleId } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasHaproxy, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

const PATH = '/api/v1/accounts';
/** A gateway whose bank responds when the test allows it. */
const PATIENT = { BANK_REQUEST_TIMEOUT_MS: '60000', REQUEST_DEADLINE_MS: '60000' };
const GET = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('many callers of a slow bank', () => {
  it('leave no connection behind when they disconnect, which is logged with 499; too many waiting ones get overloaded', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    // callers who have left do not count as waiting
    const gateway = await startGateway(bank, { ...PATIENT, MAX_REQUESTS_WAITING: '60' });
    const stays = gateway.get(PATH);
    await until(() => bank.requests.length === 2);
    for (let round = 0; round < 2; round++) {
      const sockets = Array.from({ length: 50 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
      for (const socket of sockets) socket.write(GET);
      await until(() => gateway.app.get(SnapshotService).status().callersWaiting === 51);
      for (const [index, socket] of sockets.entries()) {
        if (index % 2) socket.resetAndDestroy();
        else socket.destroy();
      }
      await until(async () => (await connectionsOf(gateway)) === 1);
    }
    const statuses = () => gateway.events('request').map(({ status }) => status);
    await until(() => statuses().length === 100);
    expect(statuses()).toEqual(Array(100).fill(499));

    const calls = Promise.all(Array.from({ length: 100 }, () => gateway.get(PATH)));
    // 59 wait in addition to the first one
    await until(() => statuses().length === 100 + 41);
    expect((await gateway.get('/health/live')).status).toBe(200);
    letGo();
    const answers = [await stays, ...(await calls)];
    expect(answers.map((answer) => faultOf(answer)).filter(Boolean)).toEqual([]);
    const [served, rejected] = [200, 503].map((status) => answers.filter((answer) => answer.status === status));
    expect(served?.map(({ json }) => json.page.total)).toEqual(Array(60).fill(3));
    expect(rejected?.map(codeOf)).toEqual(Array(41).fill('overloaded'));
    expect(bank.requests.filter(({ path }) => path.startsWith(PATH))).toHaveLength(1);
    expect((await gateway.get(PATH)).status).toBe(200);
    await expectCommonConditions(bank, gateway, answers);
  });
});

describe('many connections', () => {
  it('are closed at once beyond MAX_CONNECTIONS, even for probes; a client that never finishes a header gets 408; the others are served', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank, { MAX_CONNECTIONS: '10' });
    const begun = 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
    const slow = Array.from({ length: 9 }, (_, index) =>
      // some send nothing
      sendRaw(gateway.port, index % 3 ? begun : '', { waitMs: 100_000, enough: 2 }),
    );
    const inside = connect({ port: gateway.port, host: '127.0.0.1' });
    await until(async () => (await connectionsOf(gateway)) === 10);
    const probe = await sendRaw(gateway.port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(probe.answers).toEqual([]);
    expect(probe.end).not.toBe('open');
    inside.write(GET);
    const served = await new Promise<string>((resolve) => inside.once('data', (chunk) => resolve(String(chunk))));
    expect(served).toMatch(/^HTTP\/1\.1 200 /);
    inside.destroy();
    for (const { answers, end } of await Promise.all(slow)) {
      expect(answers.map((answer) => [faultOf(answer), codeOf(answer)])).toEqual([[null, 'request-timeout']]);
      expect(end).toBe('closed');
    }
    expect((await gateway.get(PATH)).status).toBe(200);
  });
});

const PATHS = [PATH, `${PATH}?format=csv`, `${PATH}?format=ndjson`, `${PATH}/${sampleId(1)}`, '/api/v1/balances'];
const CHUNKED = { 'transfer-encoding': 'chunked' };

/** A gateway without a snapshot, whose bank answers when the test allows it. */
async function startWaiting() {
  const bank = await startPretendBank();
  const letGo = holdAccounts(bank);
  const gateway = await startGateway(bank, PATIENT);
  const untilWaiting = (callers: number) =>
    until(() => {
      expect(gateway.events('request')).toEqual([]);
      return gateway.app.get(SnapshotService).status().callersWaiting === callers;
    });
  return { gateway, letGo, untilWaiting };
}

it('a request body changes nothing for a caller who waits for the bank', async () => {
  const { gateway, letGo, untilWaiting } = await startWaiting();
  const bodies = [
    { headers: CHUNKED, body: '' },
    { headers: CHUNKED, body: 'abc' },
    { headers: { 'content-length': '3' }, body: 'abc' },
  ];
  const calls = PATHS.flatMap((path) => bodies.map((body) => call(`${gateway.url}${path}`, body)));
  await untilWaiting(calls.length);
  letGo();
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200));
});

(hasHaproxy() ? it : it.skip)(
  'the chunks that haproxy makes of HTTP/2 change nothing for a caller who waits for the bank',
  async () => {
    const { gateway, letGo, untilWaiting } = await startWaiting();
    const port = await closedPort();
    const file = join(temporaryDirectory(), 'haproxy.cfg');
    const limits = ['connect', 'client', 'server'].map((which) => `  timeout ${which} 60s\n`).join('');
    const listen = `listen web\n  bind 127.0.0.1:${port} proto h2\n  server one 127.0.0.1:${gateway.port}\n`;
    writeFileSync(file, `defaults\n  mode http\n${limits}${listen}`);
    await startTool('haproxy', ['-db', '-f', file], port);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    try {
      const streams = PATHS.map((path) =>
        session.request({ ':path': path, ':authority': 'localhost' }, { endStream: false }),
      );
      const answers = streams.map(async (stream) => {
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
        stream.resume();
        return headers[':status'];
      });
      // the end comes in a frame after the header
      for (const stream of streams) stream.end();
      await untilWaiting(PATHS.length);
      letGo();
      expect(await Promise.all(answers)).toEqual(PATHS.map(() => 200));
    } finally {
      // before haproxy ends, which would reset it
      await new Promise<void>((resolve) => session.close(resolve));
    }
  },
);
