import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

/** GIT_COMMIT if it is set, else 12 characters of the checkout's commit; null without one. */
export function readCommit(): string | null {
  const { GIT_COMMIT } = process.env;
  if (GIT_COMMIT) return GIT_COMMIT;
  try {
    const git = ['-C', ROOT, 'rev-parse', '--short=12', 'HEAD'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return readHead(join(ROOT, '.git'));
  }
}

/** The same for the image build, which has no git: read from HEAD, its branch and the packed branches. */
function readHead(git: string): string | null {
  const read = (name: string) => {
    const file = join(git, name);
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8').trim() : '';
  };
  const branch = read('HEAD').replace(/^ref: /, '');
  const packed = read('packed-refs').split('\n');
  const commit = [branch, read(branch), ...packed.filter((line) => line.endsWith(` ${branch}`))];
  return commit.find((text) => /^[\da-f]{40}/.test(text))?.slice(0, 12) ?? null;
}
