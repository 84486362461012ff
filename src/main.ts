// Nothing is imported before the version is looked at: an older Node cannot even read the rest.
const OLDEST_NODE = 24;

// a reader that has ended, a full disk: nobody is left to be told, and the service goes on
process.stderr.on('error', () => undefined);

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  process.stderr.write(
    `accounts-gateway needs Node ${OLDEST_NODE} or later (this is ${process.versions.node}): older ones lack what it is built on.\n` +
      'Start it by its npm scripts (npm start, npm run start:prod), which use the Node that npm ci installed, or install Node 24 LTS.\n',
  );
  process.exitCode = 1;
} else {
  const { runCommandLine } = await import('./cli/command-line.js');
  try {
    process.exitCode = await runCommandLine(process);
  } catch (error) {
    // the message of an unforeseen error may quote data; its place does not
    const { name, stack = '' } = error instanceof Error ? error : { name: typeof error };
    const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
    process.stderr.write(`accounts-gateway: a fault of its own (${name}); please report it:\n${places.join('\n')}\n`);
    process.exitCode = 1;
  }
}
