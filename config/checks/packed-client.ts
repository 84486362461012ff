import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A version of the client, and the SHA-256 of the files in its package. */
export interface PackedClient {
  readonly version: string;
  readonly sha256: string;
}

/**
 * Reads the files that `npm pack` would put into this folder's package: package.json, README.md and the folders of
 * `files`.
 */
export function readPackedClient(folder: string): PackedClient {
  const { version, files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    files: readonly string[];
  };
  const paths = files.flatMap((name) =>
    readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash('sha256');
  for (const path of [...paths, join(folder, 'package.json'), join(folder, 'README.md')].toSorted()) {
    const bytes = readFileSync(path);
    const name = relative(folder, path).replaceAll(sep, '/');
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
  }
  return { version, sha256: hash.digest('hex') };
}

/**
 * The reason why a client must not be published; null if there is none. Two clients with the same version must have the
 * same bytes.
 */
export function problemWith(client: PackedClient, recorded: PackedClient, isReleased: boolean): string | null {
  if (client.sha256 === recorded.sha256 && client.version === recorded.version) return null;
  if (client.version !== recorded.version || !isReleased) return 'run npm run client:record';
  return `${client.version} is released with other bytes: raise the version with config/set-version.sh`;
}
