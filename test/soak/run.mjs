// Runs a TypeScript file of the tests as jest does, without jest: node test/soak/run.mjs [arguments]
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import jest from '../../jest.config.js';

const [, options] = Object.values(jest.transform)[0];

registerHooks({
  resolve(specifier, context, next) {
    const ours = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    return next(ours ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const path = fileURLToPath(url);
    const { code } = transformSync(readFileSync(path, 'utf8'), { ...options, filename: path });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

await import('./main.ts');
