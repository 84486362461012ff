#!/usr/bin/env node
// Imports nothing before signals are handled and the version is checked: an older Node cannot even parse the rest.
const OLDEST_NODE = 24;

/** The exit code of these commands is their result, so an interrupted one must not exit with 0. */
const isCheck = process.argv.some((word) => word === 'doctor' || word === 'probe');

// For process 1 of a container, a signal without a handler is lost. `serve` and `sandbox` replace these handlers.
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => process.exit(isCheck ? exitCode : 0));
}
// there is nothing to reload yet; a sandbox that runs alone ends with its terminal
if (!process.argv.includes('sandbox')) process.on('SIGHUP', () => undefined);
// like --disable-sigusr1: nobody can open an inspector in the process that holds the keys
process.on('SIGUSR1', () => undefined);

// the reader may be gone or the disk full; the service continues
process.stderr.on('error', () => undefined);

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  process.stderr.write(
    `accounts-gateway needs Node ${OLDEST_NODE} or later (this is ${process.versions.node}): older versions lose digits of amounts.\n` +
      'Start it with npm (npm start, npm run start:prod), which uses the Node that npm ci installed, or install Node 24 LTS. ' +
      'With systemd, ExecStart in accounts-gateway.service names the Node that it runs.\n',
  );
  process.exitCode = 1;
} else {
  const { runCommandLine } = await import('./cli/command-line.js');
  try {
    process.exitCode = await runCommandLine(process);
  } catch (error) {
    // the message of an unexpected error may quote data; its location does not
    const { name, stack = '' } = error instanceof Error ? error : { name: typeof error };
    const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
    process.stderr.write(`accounts-gateway: an internal error (${name}); please report it:\n${places.join('\n')}\n`);
    process.exitCode = 1;
  }
}
