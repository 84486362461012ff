import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { get } from './callers.mjs';
import { createSink, freePort, start, untilReady } from './processes.mjs';

/**
 * The gateway as it is delivered: a process of its own in production mode, log lines at the default level into a pipe that
 * is read. `settings` are added to those that point it at the sandbox bank.
 */
export async function startGateway({ root, cwd, bank, settings = {}, nodeFlags = [] }) {
  const port = await freePort();
  const sink = createSink(cwd, 'gateway');
  const stdout = sink.open();
  const program = start('gateway', [process.execPath, ...nodeFlags, '--disable-sigusr1', join(root, 'dist/main.js')], {
    underTest: true,
    cwd,
    stdout,
    env: { NODE_ENV: 'production', PORT: String(port), ...bank.settings, ...settings },
  });
  closeSync(stdout);
  const url = `http://127.0.0.1:${port}`;
  return {
    program,
    port,
    url,
    accountsUrl: `${url}/api/v1/accounts`,
    /** Resolves within a millisecond or two of its opening the port. */
    live: () => untilReady(program, () => get(`${url}/health/live`).then(({ status }) => status === 200), 1),
    /** Ends it; gives the number of log lines it wrote. */
    stop: async () => {
      await program.stop();
      return sink.lines();
    },
  };
}
