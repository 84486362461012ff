import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Stands for src/worker-url.ts in tests (load-typescript.js): the file in the build of the sources that the global setup made. */
export function workerUrl(file: string, from: string): URL {
  const built = process.env['BUILT_SOURCES'];
  if (built === undefined) throw new Error('the sources are not built: see test/support/build-sources.ts');
  return new URL(relative(SRC, fileURLToPath(new URL(file, from))), pathToFileURL(`${built}/`));
}
