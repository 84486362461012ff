/**
 * `npm run compare -- v1.0.0`: lists what changed for callers and operators between a commit (or the folder of a built
 * checkout) and the build of this checkout.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toTable } from '../to-table.js';
import { closeAll, temporaryDirectory } from '../../support/closing.js';
import { ROOT } from '../../support/documents.js';
import { readClient } from './read-client.js';
import { readRunning } from './read-running.js';
import { readSources } from './read-sources.js';

const before = process.argv[2];
if (before === undefined) throw new Error('name a commit or a built checkout: npm run compare -- v1.0.0');
try {
  process.stdout.write(toDifferences(await factsOf(toCheckout(before)), await factsOf(ROOT)));
} finally {
  await closeAll();
}

async function factsOf(checkout: string): Promise<Map<string, string>> {
  return new Map([...readSources(checkout), ...readClient(checkout), ...(await readRunning(checkout))]);
}

/** Returns the folder itself, or builds the commit in a temporary one. */
function toCheckout(given: string): string {
  if (existsSync(join(given, 'dist/main.js'))) return given;
  const directory = temporaryDirectory();
  const run = (cwd: string, command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  run(ROOT, 'git', 'clone', '--quiet', '--no-checkout', '.', directory);
  run(directory, 'git', 'checkout', '--quiet', given);
  run(directory, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel', 'error');
  run(directory, 'npm', 'run', '--silent', 'build');
  return directory;
}

function toDifferences(old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string {
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
  const rows = names.toSorted().map((name) => [name, old.get(name) ?? '–', now.get(name) ?? '–']);
  return toTable(
    ['what', 'before', 'now'],
    rows.map((row) => row.map((cell) => cell.replaceAll('|', String.raw`\|`))),
  );
}
