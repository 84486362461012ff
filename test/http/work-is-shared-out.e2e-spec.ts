import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { get } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { startProber } from '../support/prober.js';
import { endPrograms, programEnvironment, startProgram } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { cleanUp, makeDirectory } from '../support/sandbox.js';
import { until } from '../support/until.js';

const MB = 1024 * 1024;
const LIST = '/api/v1/accounts';

/** Says at the end the longest that the serving thread worked in a row (ms of its CPU time: others share the machine). */
const WATCH = `
  const cpu = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
  let last = cpu(), longest = 0;
  const look = () => { const now = cpu(); longest = Math.max(longest, now - last); last = now; };
  process.on('SIGUSR2', () => { last = cpu(); longest = 0; setInterval(look, 2).unref(); });
  process.on('exit', () => { look(); process.stderr.write('longest ' + longest); });
`;

afterEach(async () => {
  await endPrograms();
  await closePretendBanks();
  await cleanUp();
});

async function startWarm(env: Record<string, string> = {}) {
  const bank = await startPretendBank();
  bank.onAccounts = listSample(1000);
  const program = await startProgram({
    env: programEnvironment(bank, { SNAPSHOT_FRESH_MS: '600000', SNAPSHOT_MAX_AGE_MS: '600000', ...env }),
    cwd: makeDirectory(),
    nodeFlags: ['--max-old-space-size=256', '--import', `data:text/javascript,${encodeURIComponent(WATCH)}`],
  });
  const url = await program.started();
  await until(async () => (await get(`${url}/health/ready`)).status === 200);
  const memory = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8'))?.[1]) * 1024;
  return { bank, program, url, memory };
}

/** Connections that are open before anything is sent, and read nothing. */
async function openUnread(url: string, count: number): Promise<Socket[]> {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }).pause());
  for (const socket of sockets) socket.on('error', () => undefined);
  await until(() => sockets.every(({ connecting }) => !connecting));
  await delay(200);
  return sockets;
}

const toRequest = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

/** A page of 500 to 899 accounts that no other number asks for. */
const toPage = (number: number) =>
  `${LIST}?pageSize=${500 + (number % 400)}&status=active&q=${'operating'.slice(0, 1 + (Math.floor(number / 400) % 9))}` +
  `&sort=${['name', '-name', 'current'][Math.floor(number / 3600) % 3]}`;

describe('work that many ask for at once', () => {
  it.each([
    [
      '400 connections × 20 different pages',
      400,
      (connection: number) =>
        Array.from({ length: 20 }, (_, index) => toRequest(toPage(connection * 20 + index))).join(''),
    ],
    ['300 compressed downloads', 300, () => toRequest(`${LIST}?format=csv`, 'Accept-Encoding: br\r\n')],
    [
      '1000 different pages that wait for one reading',
      1000,
      (connection: number) => toRequest(toPage(connection), 'Cache-Control: no-cache\r\n'),
    ],
  ])(
    '%s, none read: the live probe is answered all the while',
    async (_name, count, requestsOf) => {
      const { program, url, memory } = await startWarm();
      const sockets = await openUnread(url, count);
      const before = memory();
      program.child.kill('SIGUSR2');
      const prober = startProber(`${url}/health/live`);
      await delay(500);
      for (const [index, socket] of sockets.entries()) socket.write(requestsOf(index));
      let most = 0;
      for (let seconds = 0; seconds < 5; seconds += 0.25) {
        await delay(250);
        most = Math.max(most, memory());
      }
      const { took, failed } = await prober.stop();
      for (const socket of sockets) socket.destroy();
      expect(failed).toBe(0);
      expect(took.length).toBeGreaterThan(10);
      expect(most - before).toBeLessThan(350 * MB);
      program.child.kill('SIGTERM');
      expect(await program.exit).toBe(0);
      // begun all at once, they take seconds
      expect(Number(/longest ([\d.]+)/.exec(program.stderr())?.[1])).toBeLessThan(400);
    },
    60_000,
  );
});
