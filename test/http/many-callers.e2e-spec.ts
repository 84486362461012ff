import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { holdAccounts } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { connectionsOf, expectCommonConditions, faultOf } from '../support/common-conditions.js';
import { type Gateway, get, startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { codeOf, sendRaw } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const MB = 1024 * 1024;

const GET = 'GET /api/v1/accounts HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Calls the live probe repeatedly. `stop` returns how many calls were answered, and how many were not. */
function startProber(url: string) {
  const seen = { answered: 0, failed: 0 };
  let isGoing = true;
  const probe = async (): Promise<void> => {
    const status = await get(`${url}/health/live`)
      .then((answer) => answer.status)
      .catch(() => 0);
    seen[status === 200 ? 'answered' : 'failed'] += 1;
    if (isGoing) return delay(10).then(probe);
  };
  const ended = probe();
  return {
    stop: async () => {
      isGoing = false;
      await ended;
      return seen;
    },
  };
}

describe('a crowd', () => {
  it('callers who leave before their answer, 300 of them, leave nothing behind', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    // those who have left do not count as waiting
    const gateway = await startGateway(bank, { MAX_REQUESTS_WAITING: '150' });
    const stays = gateway.get('/api/v1/accounts');
    await until(() => bank.requests.length === 2);
    for (let left = 0; left < 300; left += 100) {
      const sockets = Array.from({ length: 100 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
      for (const socket of sockets) socket.write(GET);
      await until(async () => (await connectionsOf(gateway)) === 101);
      await delay(20);
      for (const [index, socket] of sockets.entries()) {
        if (index % 2) socket.resetAndDestroy();
        else socket.destroy();
      }
      await until(async () => (await connectionsOf(gateway)) === 1);
    }
    const lines = gateway.events('request');
    expect(lines.length).toBeGreaterThan(250);
    expect(lines.every(({ status }) => status === 499)).toBe(true);
    letGo();
    const answer = await stays;
    expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
    expect(bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts'))).toHaveLength(1);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('1000 at once before a slow bank: each has an answer or a clean refusal, and the live probe is answered', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    const program = await startProgram({
      env: programEnvironment(bank, {
        MAX_REQUESTS_WAITING: '250',
        NODE_ENV: 'production',
        REQUEST_DEADLINE_MS: '30000',
        BANK_REQUEST_TIMEOUT_MS: '30000',
      }),
      cwd: temporaryDirectory(),
    });
    const url = await program.started();
    const port = Number(new URL(url).port);
    const memory = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8'))?.[1]) * 1024;
    const before = memory();

    const calls: Promise<Awaited<ReturnType<typeof sendRaw>>>[] = [];
    const prober = startProber(url);
    for (let count = 0; count < 1000; count += 1) {
      calls.push(sendRaw(port, GET, { waitMs: 20_000 }));
      // as a network would; and one event loop plays them all here
      if (count % 50 === 49) await delay(10);
    }
    await until(() => program.stdout().split('"code":"overloaded"').length > 750, 15_000);
    letGo();
    const heard = await Promise.all(calls);
    const { answered, failed } = await prober.stop();

    const reported = heard.map(({ answers }) => {
      const [answer] = answers;
      return answer
        ? `${answer.status} ${faultOf(answer) ?? (answer.status === 200 ? 'ok' : codeOf(answer))}`
        : 'nothing';
    });
    const counts = Object.fromEntries(
      [...new Set(reported)].map((each) => [each, reported.filter((one) => one === each).length]),
    );
    expect(Object.keys(counts).sort()).toEqual(['200 ok', '503 overloaded']);
    expect(counts['200 ok']).toBe(250);
    expect(failed).toBe(0);
    expect(answered).toBeGreaterThan(0);
    expect(memory() - before).toBeLessThan(120 * MB);
    expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
  }, 60_000);

  it('connections beyond MAX_CONNECTIONS are closed at once, probes included; those inside are served', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank, { MAX_CONNECTIONS: '10' });
    const held = Array.from({ length: 10 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
    await until(async () => (await connectionsOf(gateway)) === 10);
    const probe = await sendRaw(gateway.port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(probe.answers).toEqual([]);
    expect(probe.end).not.toBe('open');
    const inside = held[0];
    inside?.write(GET);
    const served = await new Promise<string>((resolve) => inside?.once('data', (chunk) => resolve(String(chunk))));
    expect(served).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of held) socket.destroy();
    await until(async () => (await connectionsOf(gateway)) === 0);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  });

  it('60 connections × 1500 pipelined requests, none read: others are served within 256 MB', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample(50);
    const program = await startProgram({
      env: programEnvironment(bank, { LOG_LEVEL: 'info' }),
      cwd: temporaryDirectory(),
      nodeFlags: ['--max-old-space-size=256'],
    });
    const url = await program.started();
    await until(async () => (await get(`${url}/health/ready`)).status === 200);
    const sockets = Array.from({ length: 60 }, () =>
      connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
        .on('error', () => undefined)
        .pause(),
    );
    await until(() => sockets.every(({ connecting }) => !connecting));
    const prober = startProber(url);
    for (const socket of sockets) socket.write(GET.repeat(1500));
    await until(() => program.events('connection.closed').length === 60, 30_000);
    await delay(500);
    const { failed } = await prober.stop();
    expect(failed).toBe(0);
    const lines = program.events('request').filter(({ route }) => route === '/api/v1/accounts');
    expect(lines.length).toBeLessThanOrEqual(60 * 8);
    for (const socket of sockets) socket.destroy();
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  }, 60_000);

  it('50 who never finish their header have a 408 in time, and others are served', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank);
    const slow = Array.from({ length: 50 }, (_, index) =>
      // some send nothing at all
      sendRaw(gateway.port, index % 10 ? 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ' : '', {
        waitMs: 18_000,
        enough: 2,
      }),
    );
    await until(async () => (await connectionsOf(gateway)) === 50);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    for (const { answers, end } of await Promise.all(slow)) {
      const [answer] = answers;
      if (!answer) throw new Error('closed without an answer');
      expect([answer.status, codeOf(answer), faultOf(answer), end]).toEqual([408, 'request-timeout', null, 'closed']);
    }
  }, 30_000);
});

describe('a caller who leaves before the answer is out', () => {
  const PATH = '/api/v1/accounts';
  const get = (target: string, id: string) =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`;

  const statuses = (gateway: Gateway) =>
    gateway
      .events('request')
      .map(({ requestId, status }) => `${requestId} ${status}`)
      .sort();

  async function send(gateway: Gateway, text: string): Promise<Socket> {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.write(text, resolve));
    return socket;
  }

  it('has one line with 499 for each request, also for those behind another; the refresh goes on', async () => {
    const bank = await startPretendBank();
    const letGo = holdAccounts(bank);
    const gateway = await startGateway(bank);
    const socket = await send(gateway, ['a', 'b', 'c'].map((id) => get(PATH, id)).join('') + get('/health/live', 'd'));
    await until(() => bank.requests.filter(({ path }) => path.startsWith(PATH)).length === 1);
    socket.resetAndDestroy();
    const left = ['a 499', 'b 499', 'c 499', 'd 499'];
    await until(() => gateway.events('request').length >= left.length);
    expect(statuses(gateway)).toEqual(left);
    letGo();
    await until(() => gateway.events('snapshot.refreshed').length === 1);
    expect((await gateway.get(PATH)).headers['cache-status']).toMatch(/; hit/);
  });

  it('the negative case: one who stays has the status of the answer', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank);
    const socket = await send(gateway, get(PATH, 'a') + get('/health/live', 'b') + get('/%zz', 'c'));
    socket.resume();
    await until(() => gateway.events('request').length === 3);
    expect(statuses(gateway)).toEqual(['a 200', 'b 200', 'c 400']);
    socket.destroy();
  });
});
