import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dice } from '../../src/sandbox/accounts/dice.js';
import { body, raw, status } from '../support/fault-answers.js';
import type { Handler } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';
import type { SoakBank } from './soak-bank.js';

interface Scene {
  readonly soak: SoakBank;
  readonly child: ChildProcess;
  readonly dice: Dice;
  /** Times at which the gateway was stopped, from – to, ms since 1970. */
  readonly held: [number, number][];
  /** Many callers at once; resolves when all have been answered. */
  burst(): Promise<unknown>;
}

/** One thing that goes wrong, for a while; the bank is healthy again when it resolves. */
type Fault = (scene: Scene, ms: number) => Promise<void>;

const drip: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

const ANSWERS: Record<string, Handler> = {
  '500': status(500),
  '503 with Retry-After': status(503, { 'retry-after': '1' }),
  '429': status(429, { 'retry-after': '1' }),
  '204': (_request, response) => void response.writeHead(204).end(),
  redirect: status(302, { location: 'http://127.0.0.1:1/' }),
  HTML: body(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }),
  'broken JSON': body(`{"access_token":"${PLANTED.text}`),
  'bad gzip': body(PLANTED.text, { 'content-encoding': 'gzip' }),
  'too large': body(`{"result":[],"x":"${'x'.repeat(1_200_000)}"}`),
  'cut off': raw(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"result":[{"x":"${PLANTED.text}"`),
  drop: (_request, response) => void response.socket?.destroy(),
  hang: () => undefined,
  drip,
};

/** At the token endpoint they are refusals, which an operator corrects and reports to the gateway by SIGHUP. */
const REFUSALS: Record<string, Handler> = { '401': status(401), '403': status(403) };

const spoilAt =
  (endpoint: 'spoilToken' | 'spoilAccounts', spoil: Handler, signal?: NodeJS.Signals): Fault =>
  async ({ soak, child }, ms) => {
    soak[endpoint] = spoil;
    // so that a token is asked for at all
    if (endpoint === 'spoilToken') soak.revokeTokens();
    await delay(ms);
    soak[endpoint] = null;
    if (signal) child.kill(signal);
  };

const bend =
  (change: NonNullable<SoakBank['bend']>): Fault =>
  async ({ soak }, ms) => {
    soak.bend = change;
    await delay(ms);
    soak.bend = null;
  };

async function renew({ soak: { bank }, dice }: Scene): Promise<void> {
  const next = await bank.issueClient('renewed');
  if (dice.chance(50)) {
    // half-written first
    writeFileSync(bank.files.pfx, next.pfx.subarray(0, 900));
    await delay(1500);
  }
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
}

const named = (prefix: string, spoils: Record<string, Handler>, toFault: (spoil: Handler) => Fault) =>
  Object.entries(spoils).map(([name, spoil]): [string, Fault] => [`${prefix}: ${name}`, toFault(spoil)]);

export const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...named('list', { ...ANSWERS, ...REFUSALS, '404': status(404) }, (spoil) => spoilAt('spoilAccounts', spoil)),
  ...named('token', ANSWERS, (spoil) => spoilAt('spoilToken', spoil)),
  ...named('token, then SIGHUP', REFUSALS, (spoil) => spoilAt('spoilToken', spoil, 'SIGHUP')),
  ['list: no count', bend(({ result }) => ({ result }))],
  ['list: an account short', bend(({ result, pageInfo }, page) => ({ result: result.slice(page - 1), pageInfo }))],
  ['list: an account twice', bend(({ result, pageInfo }) => ({ result: [...result.slice(1), result[1]], pageInfo }))],
  [
    'connections dropped',
    async ({ soak: { bank } }, ms) => {
      for (const end = Date.now() + ms; Date.now() < end; await delay(10)) {
        for (const socket of bank.sockets) socket.resetAndDestroy();
      }
    },
  ],
  ['tokens revoked', async ({ soak }) => soak.revokeTokens()],
  ['certificate renewed', renew],
  [
    'SIGSTOP, SIGCONT',
    async ({ child, held }, ms) => {
      const from = Date.now();
      child.kill('SIGSTOP');
      await delay(ms);
      child.kill('SIGCONT');
      held.push([from, Date.now()]);
    },
  ],
  ['a burst of callers', async ({ burst }) => void (await burst())],
]);
