import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cleanUp, makeDirectory } from '../support/sandbox.js';
import { closeGateways, get, startGateway, type Gateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { endPrograms, programEnvironment, startProgram } from '../support/program.js';
import { startProber } from '../support/prober.js';
import { codeOf, faultOf, sendRaw } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const FULL = process.env['FULL'] === '1';
const MB = 1024 * 1024;

afterEach(async () => {
  await closeGateways();
  await endPrograms();
  await closePretendBanks();
  await cleanUp();
});

const GET = 'GET /api/v1/accounts HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** The bank answers the list when told to. */
function heldUp(bank: PretendBank): () => void {
  const good = listSample();
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onAccounts = (...args) => void promise.then(() => good(...args));
  return resolve;
}

const connectionsOf = ({ app }: Gateway): Promise<number> => {
  const server = app.getHttpServer() as { getConnections(done: (error: Error | null, count: number) => void): void };
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
};

describe('a crowd', () => {
  it('callers who leave before their answer, 1000 of them, leave nothing behind', async () => {
    const bank = await startPretendBank();
    const letGo = heldUp(bank);
    // those who have left do not count as waiting
    const gateway = await startGateway(bank, { MAX_REQUESTS_WAITING: '150' });
    for (let left = 0; left < 1000; left += 100) {
      const sockets = Array.from({ length: 100 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
      for (const socket of sockets) socket.write(GET);
      await until(async () => (await connectionsOf(gateway)) === 100);
      await delay(20);
      for (const socket of sockets) socket.destroy();
      await until(async () => (await connectionsOf(gateway)) === 0);
    }
    const lines = gateway.events('request');
    expect(lines.length).toBeGreaterThan(900);
    expect(lines.every(({ status }) => status === 499)).toBe(true);
    letGo();
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts'))).toHaveLength(1);
    expect(gateway.events('request.failed')).toEqual([]);
  });

  it('2000 at once before a slow bank: each has an answer or a clean refusal, the live probe stays quick', async () => {
    const bank = await startPretendBank();
    const letGo = heldUp(bank);
    const program = await startProgram({
      env: programEnvironment(bank, {
        MAX_REQUESTS_WAITING: '500',
        NODE_ENV: 'production',
        REQUEST_DEADLINE_MS: '30000',
        BANK_REQUEST_TIMEOUT_MS: '30000',
      }),
      cwd: makeDirectory(),
    });
    const port = Number(new URL(await program.started()).port);
    const memory = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8'))?.[1]) * 1024;
    const before = memory();

    const calls: Promise<Awaited<ReturnType<typeof sendRaw>>>[] = [];
    const prober = startProber(`http://127.0.0.1:${port}/health/live`);
    for (let count = 0; count < 2000; count += 1) {
      calls.push(sendRaw(port, GET, { waitMs: 20_000 }));
      // as a network would; and one event loop plays them all here
      if (count % 50 === 49) await delay(10);
    }
    await until(() => program.stdout().split('"code":"overloaded"').length > 1500, 15_000);
    await delay(FULL ? 6000 : 1000);
    letGo();
    const heard = await Promise.all(calls);
    const { took, failed } = await prober.stop();

    const told = heard.map(({ answers }) => {
      const [answer] = answers;
      return answer
        ? `${answer.status} ${faultOf(answer) ?? (answer.status === 200 ? 'ok' : codeOf(answer))}`
        : 'nothing';
    });
    const counts = Object.fromEntries(
      [...new Set(told)].map((each) => [each, told.filter((one) => one === each).length]),
    );
    expect(Object.keys(counts).sort()).toEqual(['200 ok', '503 overloaded']);
    expect(counts['200 ok']).toBe(500);
    expect(failed).toBe(0);
    expect(took.length).toBeGreaterThan(20);
    // other tests share the machine in an ordinary run
    expect(took[Math.floor(took.length * (FULL ? 0.99 : 0.9))]).toBeLessThan(FULL ? 100 : 250);
    await delay(500);
    expect(memory() - before).toBeLessThan(120 * MB);
    expect((await get(`http://127.0.0.1:${port}/api/v1/accounts`)).status).toBe(200);
  }, 60_000);

  it('one address that takes every place to wait for the bank: another one has its share all the same', async () => {
    const bank = await startPretendBank();
    const letGo = heldUp(bank);
    const gateway = await startGateway(bank, { MAX_REQUESTS_WAITING: '10' });
    const greedy = Array.from({ length: 10 }, () => gateway.get('/api/v1/accounts'));
    await until(() => bank.requests.some(({ path }) => path.startsWith('/api/v1/accounts')));
    await delay(100);
    const { promise: status, resolve, reject } = Promise.withResolvers<number | undefined>();
    const options = { port: gateway.port, host: '127.0.0.1', path: '/api/v1/accounts', agent: false };
    const other = request({ ...options, localAddress: '127.0.0.2' }, (answer) => resolve(answer.resume().statusCode));
    other.on('error', reject).end();
    await until(() => gateway.events('request').length === 1);
    letGo();
    expect(await status).toBe(200);
    const statuses = (await Promise.all(greedy)).map((answer) => answer.status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 9 }, () => 200), 503]);
  });

  it.each([
    ['an address that may call', '127.0.0.1'],
    ['one that may not', '127.0.0.2'],
  ])(
    'sockets that are held and opened again all the time, by %s: every live probe is answered',
    async (_name, from) => {
      const bank = await startPretendBank();
      bank.onAccounts = listSample(5);
      const gateway = await startGateway(bank, { MAX_CONNECTIONS: '50', ALLOWED_CLIENTS: '127.0.0.1' });
      const to = { port: gateway.port, host: '127.0.0.1' };
      const flood = new Set<Socket>();
      let on = true;
      const hold = () => {
        if (!on) return;
        const socket = connect({ ...to, localAddress: from }).on('error', () => undefined);
        flood.add(socket);
        socket.on('close', () => {
          flood.delete(socket);
          setTimeout(hold, 20);
        });
      };
      for (let count = 0; count < 300; count += 1) hold();
      await delay(500);
      const probe = (localAddress: string) => {
        const { promise, resolve } = Promise.withResolvers<number | string | undefined>();
        request({ ...to, localAddress, path: '/health/live', agent: false }, (answer) =>
          resolve(answer.resume().statusCode),
        )
          .on('error', ({ message }) => resolve(message))
          .end();
        return promise;
      };
      const answers: unknown[] = [];
      for (let round = 0; round < 25; round += 1) {
        answers.push(await probe('127.0.0.1'), await probe('127.0.0.3'));
        await delay(10);
      }
      const callers = from === '127.0.0.1' ? 503 : 200;
      expect((await gateway.get('/api/v1/accounts')).status).toBe(callers);
      on = false;
      for (const socket of flood) socket.destroy();
      expect(answers.filter((answer) => answer !== 200)).toEqual([]);
      await until(async () => (await connectionsOf(gateway)) === 0);
    },
  );

  it('a connection beyond MAX_CONNECTIONS has one answer, at once, or ends', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, { MAX_CONNECTIONS: '1' });
    const held = connect({ port: gateway.port, host: '127.0.0.1' });
    await until(async () => (await connectionsOf(gateway)) === 1);
    const probe = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const heard = await sendRaw(gateway.port, probe.repeat(2), { enough: 2 });
    expect([heard.answers.map(({ status }) => status), heard.end]).toEqual([[200], 'closed']);
    const silent = await sendRaw(gateway.port, '', { waitMs: 5000 });
    expect([silent.answers, silent.end]).toEqual([[], 'closed']);
    held.destroy();
  });

  it('more connections than MAX_CONNECTIONS: told so, and the live probe is answered', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const gateway = await startGateway(bank, { MAX_CONNECTIONS: '10' });
    const held = Array.from({ length: 10 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
    await until(async () => (await connectionsOf(gateway)) === 10);
    const { answers } = await sendRaw(gateway.port, GET);
    expect(answers.map((answer) => [answer.status, codeOf(answer), faultOf(answer)])).toEqual([
      [503, 'overloaded', null],
    ]);
    expect((await gateway.get('/health/live')).status).toBe(200);
    // those let in before are served
    const inside = held[0];
    inside?.write(GET);
    const served = await new Promise<string>((resolve) => inside?.once('data', (chunk) => resolve(String(chunk))));
    expect(served).toMatch(/^HTTP\/1\.1 200 /);
    // beyond the reserve for probes they are not let in at all
    const more = Array.from({ length: 150 }, () => connect({ port: gateway.port, host: '127.0.0.1' }));
    for (const socket of more) socket.on('error', () => undefined);
    await until(() => more.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length >= 40);
    for (const socket of [...held, ...more]) socket.destroy();
    await until(async () => (await connectionsOf(gateway)) === 0);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  });
});
