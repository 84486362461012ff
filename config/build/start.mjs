// npm start, npm run sandbox and npm run doctor: node config/build/start.mjs COMMAND [OPTIONS]
// Builds dist/ if a source is newer, then continues as the program in this process, so that signals and exit codes are
// its own. npm run start:prod: node config/build/start.mjs --built [OPTIONS]. It uses the existing build.
import { spawn } from 'node:child_process';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { followShell } from './follow-shell.mjs';
import { problemWithFolder, problemWithNode, problemWithTools, requireAll } from './machine.mjs';

const BUILD = fileURLToPath(new URL('build.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const [command, ...options] = process.argv.slice(2);

requireAll(problemWithNode());
followShell();
if (command === '--built') {
  process.argv.splice(2, Infinity, ...options);
} else {
  const { isOutdated } = await import('./sources.ts');
  if (isOutdated()) {
    requireAll(problemWithTools(), problemWithFolder());
    process.stderr.write('Building dist/, because it is missing or older than the sources. This takes some seconds.\n');
    await build();
  }
}
process.argv[1] = MAIN;
await import(pathToFileURL(MAIN).href);

/** Runs a separate process that ends with this one. Its output must not look like the program's. */
async function build() {
  const builder = spawn(process.execPath, [BUILD], { stdio: ['ignore', process.stderr, process.stderr] });
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.on(signal, () => {
      builder.kill(signal);
      // the exit codes of the program while it starts
      process.exit(command === 'doctor' ? exitCode : 0);
    });
  }
  const code = await new Promise((resolve) => builder.once('close', resolve));
  if (code !== 0) process.exit(1);
}
