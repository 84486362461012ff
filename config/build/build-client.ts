import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { listBundledPackages } from './bundled-packages.ts';
import { collectLicenses } from './licenses.ts';
import { ROOT } from './sources.ts';

const CLIENT = join(ROOT, 'client');

/** Builds the typed client into client/dist: compiled, and the fake gateway of `testing`, which holds code of the gateway, bundled. */
export async function buildClient({ mayLackTypes = false } = {}): Promise<void> {
  // without the files of an earlier build
  rmSync(join(CLIENT, 'dist'), { recursive: true, force: true });
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', CLIENT];
  const { status } = spawnSync(process.execPath, tsc, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0 && !mayLackTypes) throw new Error('The client has type errors.');
  const kit = await rolldown({
    cwd: ROOT,
    platform: 'browser',
    input: { testing: 'client/testing/index.ts' },
    external: /^node:/,
    // an import of Node's for what the kit does not use of a module is left out
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await kit.write({ dir: join(CLIENT, 'dist'), format: 'esm', codeSplitting: false, minify: true });
  const chunks = output.filter((file) => file.type === 'chunk');
  if (chunks.some(({ code }) => /["'`]node:/.test(code))) throw new Error('client/testing imports a module of Node');
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const licenses = collectLicenses(listBundledPackages(modules, [], ROOT));
  writeFileSync(join(CLIENT, 'dist/testing-licenses.txt'), licenses);
  // of the declarations that the bundle replaced
  rmSync(join(CLIENT, 'dist/testing.js.map'));
}
