import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from './callers.mjs';
import { freePort, startLogged, untilReady } from './processes.mjs';

/**
 * A refresh younger than this (or than its own duration) counts as current, so that `no-cache` does not start another.
 */
export const COUNTS_AS_NOW_MS = 1000;

/**
 * The gateway as in production: a separate process in production mode, with log lines at the default level to a pipe
 * that is read. `settings` are added to those that point it at the sandbox bank; `onPair` gives it two cores.
 */
export async function startGateway({ root, cwd, bank, settings = {}, nodeFlags = [], onPair = false }) {
  const port = await freePort();
  const line = [process.execPath, ...nodeFlags, '--disable-sigusr1', join(root, 'dist/main.js')];
  const env = { NODE_ENV: 'production', PORT: String(port), ...bank.settings, ...settings };
  const program = startLogged('gateway', line, { underTest: true, onPair, cwd, env });
  const url = `http://127.0.0.1:${port}`;
  const gateway = {
    program,
    port,
    url,
    accountsUrl: `${url}/api/v1/accounts`,
    /** Resolves within a millisecond or two after it opens the port. */
    live: () => untilReady(program, () => get(`${url}/health/live`).then(({ status }) => status === 200), 1),
    /** Resolves when it has the list, and the refresh no longer counts as current. */
    settled: async () => {
      await gateway.live();
      const { status, text } = await get(gateway.accountsUrl);
      if (status !== 200) throw new Error(`the gateway's first answer is ${status}: ${text.slice(0, 300)}`);
      await delay(COUNTS_AS_NOW_MS + 100);
    },
    /** Stops it. Returns the number of log lines that it wrote. */
    stop: program.stop,
  };
  return gateway;
}
