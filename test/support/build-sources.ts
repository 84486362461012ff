import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'accounts-gateway-test');

/**
 * The globalSetup of Jest and of the soak test: builds dist/ if a source is newer, because worker threads and programs
 * run from there (BUILT_SOURCES), and fills the stock (TEST_STOCK, see stock.ts).
 */
export default function prepare(): void {
  process.env['BUILT_SOURCES'] = join(ROOT, 'dist');
  process.env['TEST_STOCK'] = join(CACHE, 'stock');
  process.env['TEST_MISSING'] = join(tmpdir(), `accounts-gateway-missing-${process.pid}`);
  process.env['NODE_COMPILE_CACHE'] = join(CACHE, 'compile-cache');
  run('config/build/build.ts', '--if-needed');
  run('--import', './test/support/load-typescript.js', 'test/support/fill-stock.ts');
}

function run(...args: string[]): void {
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
}
