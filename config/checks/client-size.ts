// Part of npm run check:client: fails if the client's main entry exceeds 5.5 kB, minified and compressed.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { ROOT } from '../build/sources.ts';

const MAX_BYTES = 5500;

const bundle = await rolldown({ input: join(ROOT, 'client/src/index.ts'), platform: 'browser' });
const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
const bytes = gzipSync(output[0].code).length;
if (bytes > MAX_BYTES) {
  process.stderr.write(
    `The main entry of the client has ${bytes} bytes, minified and compressed, and may have ${MAX_BYTES}.\n`,
  );
  process.exitCode = 1;
}
