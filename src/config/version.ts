import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** The version in package.json. */
export const VERSION: string = (JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string })
  .version;

function readCommit(told: string | undefined): string | null {
  if (told) return told;
  try {
    const head = readFileSync(new URL('.git/HEAD', root), 'utf8').trim();
    const ref = /^ref: (\S+)$/.exec(head)?.[1];
    const commit = ref === undefined ? head : readFileSync(new URL(`.git/${ref}`, root), 'utf8').trim();
    return /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 12) : null;
  } catch {
    return null;
  }
}

/** The commit this was built from: as the image was told, else as the checkout says; null when neither knows. */
// eslint-disable-next-line node/no-process-env -- baked into the image; nothing that an operator sets
export const COMMIT: string | null = readCommit(process.env['GIT_COMMIT']);
