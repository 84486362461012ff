import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { json } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';
import type { Dice } from './dice.js';
import type { SoakBank, Spoil } from './soak-bank.js';

interface Scene {
  readonly soak: SoakBank;
  readonly child: ChildProcess;
  readonly dice: Dice;
  /** Times at which the gateway was held, from – to, ms since 1970. */
  readonly held: [number, number][];
  /** Many callers at once; resolves when all have been answered. */
  burst(): Promise<unknown>;
}

/** One thing that goes wrong, for a while; the bank is well again when it resolves. */
type Fault = (scene: Scene, ms: number) => Promise<void>;

const status =
  (code: number, headers: Record<string, string> = {}): Spoil =>
  (response) =>
    json(response, code, { detail: PLANTED.text, iban: PLANTED.iban }, headers);
const text =
  (body: string, headers: Record<string, string> = {}): Spoil =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
const drop: Spoil = (response) => void response.socket?.destroy();
const hang: Spoil = () => undefined;
const late =
  (ms: number): Spoil =>
  (_response, good) =>
    void setTimeout(good, ms);
const cut: Spoil = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
  response.write(`{"result":[{"accountDescription":"${PLANTED.text}"`, () => response.socket?.end());
};
const drip: Spoil = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

const ANSWERS: Record<string, Spoil> = {
  '500': status(500),
  '502': status(502),
  '503': status(503),
  '503 with Retry-After': status(503, { 'retry-after': '1' }),
  '429': status(429, { 'retry-after': '1' }),
  '204': (response: ServerResponse) => void response.writeHead(204).end(),
  redirect: status(302, { location: 'http://127.0.0.1:1/' }),
  HTML: text(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }),
  'broken JSON': text(`{"access_token":"${PLANTED.text}`),
  'bad gzip': text(PLANTED.text, { 'content-encoding': 'gzip' }),
  'too large': text(`{"result":[],"x":"${'x'.repeat(1_200_000)}"}`),
  'cut off': cut,
  drop,
  hang,
  drip,
  slow: late(300),
  'very slow': late(900),
};

/** At the list only: at the token they are refusals, which are waited out for 30 s. */
const LIST_ANSWERS: Record<string, Spoil> = {
  '401': status(401),
  '403': status(403),
  '404': status(404),
};

/** What an operator would correct, and then tell the gateway by SIGHUP. */
const REFUSALS: Record<string, Spoil> = { '401': status(401), '403': status(403) };

const spoilAt =
  (endpoint: 'spoilToken' | 'spoilAccounts', spoil: Spoil, signal?: NodeJS.Signals): Fault =>
  async ({ soak, child, dice }, ms) => {
    const share = dice.pick([1, 0.5]);
    soak[endpoint] = (response, good) => (dice.chance(share) ? spoil(response, good) : good());
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

async function renew({ soak: { bank }, dice }: Scene, halfFirst: boolean): Promise<void> {
  const next = await bank.issueClient(`renewed ${dice.between(1, 1e6)}`);
  if (halfFirst) {
    writeFileSync(bank.files.pfx, next.pfx.subarray(0, 900));
    await delay(1500);
  }
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
}

const named = (prefix: string, spoils: Record<string, Spoil>, toFault: (spoil: Spoil) => Fault) =>
  Object.entries(spoils).map(([name, spoil]): [string, Fault] => [`${prefix}: ${name}`, toFault(spoil)]);

export const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...named('list', { ...ANSWERS, ...LIST_ANSWERS }, (spoil) => spoilAt('spoilAccounts', spoil)),
  ...named('token', ANSWERS, (spoil) => spoilAt('spoilToken', spoil)),
  ...named('token, then SIGHUP', REFUSALS, (spoil) => spoilAt('spoilToken', spoil, 'SIGHUP')),
  ['list: count off', bend(({ result, pageInfo }) => ({ result, pageInfo: { ...pageInfo, rowCount: 121 } }))],
  ['list: no count', bend(({ result }) => ({ result }))],
  ['list: an account short', bend(({ result, pageInfo }, page) => ({ result: result.slice(page - 1), pageInfo }))],
  ['list: an account twice', bend(({ result, pageInfo }) => ({ result: [...result.slice(1), result[1]], pageInfo }))],
  [
    'TLS: every connection dropped',
    async ({ soak: { bank } }, ms) => {
      for (const end = Date.now() + ms; Date.now() < end; await delay(10)) {
        for (const socket of bank.sockets) socket.resetAndDestroy();
      }
    },
  ],
  [
    'TLS: connections dropped once',
    async ({ soak: { bank } }) => {
      for (const socket of bank.sockets) socket.destroy();
    },
  ],
  ['tokens revoked', async ({ soak }) => soak.revokeTokens()],
  ['certificate renewed', (scene) => renew(scene, false)],
  ['certificate renewed, half-written first', (scene) => renew(scene, true)],
  ['SIGHUP', async ({ child }) => void child.kill('SIGHUP')],
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
