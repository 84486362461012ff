import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { codeOf, faultOf, parseAnswers } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const usedBytes = () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const MB = 1024 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;

async function startWarm(): Promise<Gateway> {
  const bank = await startPretendBank();
  bank.onAccounts = listSample(1000);
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000', SNAPSHOT_MAX_AGE_MS: '600000' });
  expect((await gateway.get(PAGE)).status).toBe(200);
  return gateway;
}
const PAGE = '/api/v1/accounts?pageSize=400';

interface Caller {
  readonly socket: Socket;
  readonly heard: Buffer[];
  endedAfterMs: number | null;
}

function dial(gateway: Gateway): Promise<Caller> {
  const { promise, resolve } = Promise.withResolvers<Caller>();
  const started = performance.now();
  const socket = connect({ port: gateway.port, host: '127.0.0.1' }, () => resolve(caller));
  const caller: Caller = { socket, heard: [], endedAfterMs: null };
  socket.on('error', () => undefined);
  socket.on('close', () => (caller.endedAfterMs = performance.now() - started));
  return promise;
}

const connectionsOf = ({ app }: Gateway): Promise<number> => {
  const server = app.getHttpServer() as { getConnections(done: (error: Error | null, count: number) => void): void };
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
};

/** Others are served while it lasts; gives the longest that one of them waited. */
async function serveOthers(gateway: Gateway, done: Promise<unknown>): Promise<number> {
  const lasting = { on: true };
  void done.finally(() => (lasting.on = false));
  let longest = 0;
  while (lasting.on) {
    const started = performance.now();
    expect((await gateway.get('/api/v1/accounts?pageSize=1')).status).toBe(200);
    longest = Math.max(longest, performance.now() - started);
    await delay(100);
  }
  return longest;
}

describe('slow callers', () => {
  it('200 who never finish their header are told 408 and gone in time; 50 who do not read are ended; others are served', async () => {
    const gateway = await startWarm();
    const before = usedBytes();

    const slow = await Promise.all(Array.from({ length: 200 }, () => dial(gateway)));
    const drips = setInterval(() => {
      for (const { socket } of slow) if (socket.writable && socket.bytesWritten > 0) socket.write('a');
    }, 1000);
    for (const [index, { socket, heard }] of slow.entries()) {
      socket.on('data', (chunk: Buffer) => heard.push(chunk));
      // some send nothing at all
      if (index % 10 !== 0) socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    }
    const readers = await Promise.all(Array.from({ length: 50 }, () => dial(gateway)));
    for (const [index, { socket }] of readers.entries()) {
      socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(60));
      socket.pause();
      // half of them stall, half take a little now and then
      if (index % 2 === 0) continue;
      socket.on('data', () => {
        socket.pause();
        setTimeout(() => socket.resume(), 5000).unref();
      });
      socket.resume();
    }
    // held by the gateway, beyond what the kernel has taken
    await until(async () => (await connectionsOf(gateway)) >= 250, 5000);

    const slowEnded = until(() => slow.every(({ endedAfterMs }) => endedAfterMs !== null), HEADERS_TIMEOUT_MS + 6000);
    // a paused socket does not notice its end; the gateway's side is what counts
    const readersEnded = until(async () => (await connectionsOf(gateway)) <= 2, 35_000);
    const longest = await serveOthers(gateway, Promise.all([slowEnded, readersEnded]));
    await Promise.all([slowEnded, readersEnded]);
    clearInterval(drips);

    for (const { heard, endedAfterMs } of slow) {
      expect(endedAfterMs).toBeLessThan(HEADERS_TIMEOUT_MS + 5000);
      const [answer] = parseAnswers(Buffer.concat(heard)).answers;
      if (!answer) throw new Error('closed without an answer');
      expect([answer.status, codeOf(answer), faultOf(answer)]).toEqual([408, 'request-timeout', null]);
    }
    expect(longest).toBeLessThan(3000);
    for (const { socket } of readers) socket.destroy();
    // what they asked for and did not take is told as left
    expect(gateway.events('request').filter(({ status }) => status === 499).length).toBeGreaterThanOrEqual(50);
    // log lines caught by the test stay
    await until(() => usedBytes() < before + 30 * MB, 5000);
  }, 60_000);
});
