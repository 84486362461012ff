import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeGateways, get, startGateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { startProber } from '../support/prober.js';
import { endPrograms, programEnvironment, startProgram } from '../support/program.js';
import { sendRaw } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { cleanUp, makeDirectory } from '../support/sandbox.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await endPrograms();
  await closePretendBanks();
  await cleanUp();
});

const PATH = '/api/v1/accounts';
const toRequest = (path: string, host = 'localhost') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** Connections that are open before anything is sent, and then send it all at once and read nothing. */
async function openUnread(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }).pause());
  for (const socket of sockets) socket.on('error', () => undefined);
  await until(() => sockets.every(({ connecting }) => !connecting));
  return sockets;
}

/** A gateway whose bank answers the list when told to. */
async function startHeldUp(env: Record<string, string> = {}) {
  const bank = await startPretendBank();
  const good = listSample(5);
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  bank.onAccounts = (...args) => void promise.then(() => good(...args));
  return { bank, gateway: await startGateway(bank, env), letGo };
}

/** Sends them in one go and reads on until so many good answers are there or the gateway ends the connection. */
function countAnswers(port: number, request: string, count: number): Promise<{ good: number; ended: boolean }> {
  const { promise, resolve } = Promise.withResolvers<{ good: number; ended: boolean }>();
  let good = 0;
  let rest = '';
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('data', (chunk) => {
    const parts = (rest + chunk.toString('latin1')).split('HTTP/1.1 200 OK\r\n');
    good += parts.length - 1;
    rest = (parts.at(-1) ?? '').slice(-20);
    if (good === count) socket.end();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve({ good, ended: good < count }));
  socket.write(request.repeat(count));
  return promise;
}

describe('pipelined requests', () => {
  it.each([
    ['the accounts', toRequest(PATH), {}],
    ['the live probe', toRequest('/health/live'), {}],
    ['a foreign Host', toRequest(PATH, 'evil.example'), {}],
    ['an address that is not allowed', toRequest(PATH), { ALLOWED_CLIENTS: '192.0.2.1' }],
  ])(
    'whose answers are not read: %s, 60 connections × 1500, and others are served within 256 MB',
    async (_name, request, env) => {
      const bank = await startPretendBank();
      bank.onAccounts = listSample(50);
      const program = await startProgram({
        env: programEnvironment(bank, { LOG_LEVEL: 'info', ...env }),
        cwd: makeDirectory(),
        nodeFlags: ['--max-old-space-size=256'],
      });
      const url = await program.started();
      await until(async () => (await get(`${url}/health/ready`)).status === 200);
      const sockets = await openUnread(Number(new URL(url).port), 60);
      const prober = startProber(`${url}/health/live`);
      await delay(500);
      for (const socket of sockets) socket.write(request.repeat(1500));
      await delay(3000);
      const { took, failed } = await prober.stop();
      expect(failed).toBe(0);
      expect(took.length).toBeGreaterThan(20);
      expect(took.at(-1)).toBeLessThan(1000);
      // other tests share the machine
      expect(took[Math.floor(took.length * 0.95)]).toBeLessThan(250);
      for (const socket of sockets) socket.destroy();
      program.child.kill('SIGTERM');
      expect(await program.exit).toBe(0);
    },
    60_000,
  );

  it('of one connection are answered in their order, however many come at once', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample(5);
    const gateway = await startGateway(bank);
    const paths = Array.from({ length: 200 }, (_, index) => (index % 2 ? '/nothing' : PATH));
    const { answers, end } = await sendRaw(gateway.port, paths.map((path) => toRequest(path)).join(''), {
      enough: 200,
    });
    expect(answers.map(({ status }) => status)).toEqual(paths.map((path) => (path === PATH ? 200 : 404)));
    expect(end).toBe('open');
    expect(gateway.events('request')).toHaveLength(200);
  });

  it('more than 1000 that wait on one connection: those that came are answered, and it ends', async () => {
    const { gateway, letGo } = await startHeldUp();
    const counted = countAnswers(gateway.port, toRequest(PATH), 5000);
    await until(() => gateway.events('token.acquired').length > 0);
    await delay(300);
    letGo();
    expect(await counted).toEqual({ good: 1001, ended: true });
    expect((await gateway.get(PATH)).status).toBe(200);
  });

  it('more than 2000 that wait on all connections together: the next one is answered and ends', async () => {
    const { gateway, letGo } = await startHeldUp();
    const many = [900, 900, 900].map((count) => countAnswers(gateway.port, toRequest(PATH), count));
    await until(() => gateway.events('token.acquired').length > 0);
    await delay(300);
    expect(await countAnswers(gateway.port, toRequest('/health/live'), 2)).toEqual({ good: 1, ended: true });
    letGo();
    const counts = (await Promise.all(many)).map(({ good }) => good);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2003);
    // places are free again
    expect(await countAnswers(gateway.port, toRequest(PATH), 500)).toEqual({ good: 500, ended: false });
  });

  it('take nothing with them when their caller leaves', async () => {
    const { gateway, letGo } = await startHeldUp();
    for (let round = 0; round < 5; round += 1) {
      const [socket] = await openUnread(gateway.port, 1);
      socket?.write(toRequest(PATH).repeat(900));
      await delay(100);
      socket?.destroy();
      await until(() => gateway.events('request').length === 900 * (round + 1));
    }
    letGo();
    expect(await countAnswers(gateway.port, toRequest(PATH), 900)).toEqual({ good: 900, ended: false });
  });

  it('wait for the bank once for each connection', async () => {
    const { gateway, bank, letGo } = await startHeldUp({ MAX_REQUESTS_WAITING: '2' });
    const pipelined = sendRaw(gateway.port, toRequest(PATH).repeat(10), { enough: 10 });
    await until(() => bank.requests.some(({ path }) => path.startsWith(PATH)));
    const other = gateway.get(PATH);
    await delay(100);
    letGo();
    expect((await other).status).toBe(200);
    expect((await pipelined).answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  });
});
