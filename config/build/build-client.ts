import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { listBundledPackages } from './bundled-packages.ts';
import { collectLicenses } from './licenses.ts';
import { ROOT } from './sources.ts';

const CLIENT = join(ROOT, 'client');

/**
 * Builds the typed client into client/dist. The client is compiled; the fake gateway of `testing`, which contains code
 * of the gateway, is bundled.
 */
export async function buildClient({ mayLackTypes = false } = {}): Promise<void> {
  // without files from an earlier build
  rmSync(join(CLIENT, 'dist'), { recursive: true, force: true });
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', CLIENT];
  const { status } = spawnSync(process.execPath, tsc, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0 && !mayLackTypes) throw new Error('The client has type errors.');
  const kit = await rolldown({
    cwd: ROOT,
    platform: 'browser',
    input: { testing: 'client/testing/index.ts' },
    external: /^node:/,
    // drops imports of Node modules that the kit no longer uses after tree shaking
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await kit.write({ dir: join(CLIENT, 'dist'), format: 'esm', codeSplitting: false, minify: true });
  const chunks = output.filter((file) => file.type === 'chunk');
  if (chunks.some(({ code }) => /["'`]node:/.test(code))) throw new Error('client/testing imports a module of Node');
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const licenses = collectLicenses(listBundledPackages(modules, [], ROOT));
  writeFileSync(join(CLIENT, 'dist/testing-licenses.txt'), licenses);
  // removes the source map of the file that the bundle has replaced
  rmSync(join(CLIENT, 'dist/testing.js.map'));
}
