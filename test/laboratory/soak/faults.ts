import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { body, raw, status } from '../../support/fault-answers.js';
import type { Handler } from '../../support/pretend-bank.js';
import { PLANTED } from '../../support/sample-accounts.js';
import type { SoakBank } from './soak-bank.js';

/** Keeps one fault active for a while. The bank is healthy again when the promise resolves. */
type Fault = (soak: SoakBank, ms: number, gateway: ChildProcess) => Promise<void>;

const ANSWERS: Record<string, Handler> = {
  '500': status(500),
  '503 with Retry-After': status(503, { 'retry-after': '1' }),
  '429': status(429, { 'retry-after': '1' }),
  HTML: body(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }),
  'bad gzip': body(PLANTED.text, { 'content-encoding': 'gzip' }),
  'too large': body(`{"result":[],"x":"${'x'.repeat(1_200_000)}"}`),
  'cut off': raw(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"result":[{"x":"${PLANTED.text}"`),
  drop: (_request, response) => void response.socket?.destroy(),
  hang: () => undefined,
  '401': status(401),
  '403': status(403),
};

const spoilAt = (endpoint: 'spoilToken' | 'spoilAccounts', spoils: Record<string, Handler>) =>
  Object.entries(spoils).map(([name, spoil]): [string, Fault] => [
    `${endpoint}: ${name}`,
    async (soak, ms, gateway) => {
      soak[endpoint] = spoil;
      // otherwise no token request would happen
      if (endpoint === 'spoilToken') soak.revokeTokens();
      await delay(ms);
      soak[endpoint] = null;
      // an operator fixes a rejection, and sends SIGHUP
      if (name === '401' || name === '403') gateway.kill('SIGHUP');
    },
  ]);

export const FAULTS: readonly (readonly [name: string, Fault])[] = [
  ...spoilAt('spoilAccounts', { ...ANSWERS, '404': status(404) }),
  ...spoilAt('spoilToken', ANSWERS),
  [
    'an account short',
    async (soak, ms) => {
      soak.isShort = true;
      await delay(ms);
      soak.isShort = false;
    },
  ],
  [
    'connections dropped',
    async ({ bank }, ms) => {
      for (const end = Date.now() + ms; Date.now() < end; await delay(10)) {
        for (const socket of bank.sockets) socket.resetAndDestroy();
      }
    },
  ],
  ['tokens revoked', async (soak) => soak.revokeTokens()],
  [
    'certificate renewed',
    async ({ bank }) => {
      const next = await bank.issueClient('renewed');
      writeFileSync(bank.files.passcode, next.passcode);
      writeFileSync(bank.files.pfx, next.pfx);
    },
  ],
];
