// Runs a TypeScript file of the tests as jest does, without jest: node test/soak/run.mjs [arguments]
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKER_URL = new URL('../support/worker-url.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    // workers run compiled: see test/support/build-sources.ts
    if (/^(\.{1,2}\/)+worker-url\.js$/.test(specifier)) return next(WORKER_URL, context);
    const ours = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    return next(ours ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { filename, cwd: ROOT, sourceMaps: 'inline' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

const { default: buildSources } = await import('../support/build-sources.ts');
buildSources();
await import('./main.ts');
