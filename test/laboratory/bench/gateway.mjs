import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from './callers.mjs';
import { freePort, startLogged, untilReady } from './processes.mjs';

/** `no-cache` starts no refresh if the last one is younger than this, or than its own duration. */
export const COUNTS_AS_NOW_MS = 1000;

/**
 * Starts the gateway as in production: a separate process in production mode, which logs at the default level to a pipe
 * that is read. `settings` extend those that point it at the sandbox bank; `onPair` gives it two cores.
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
    /** Resolves once it responds; looks every millisecond. */
    live: () => untilReady(program, () => get(`${url}/health/live`).then(({ status }) => status === 200), 1),
    /** Resolves once a list is cached, and its refresh no longer counts as current. */
    settled: async () => {
      await gateway.live();
      const { status, text } = await get(gateway.accountsUrl);
      if (status !== 200) throw new Error(`the gateway's first response is ${status}: ${text.slice(0, 300)}`);
      await delay(COUNTS_AS_NOW_MS + 100);
    },
    /** Stops the gateway. Returns the number of lines that it logged. */
    stop: program.stop,
  };
  return gateway;
}
