// Preloaded (--import) for TypeScript scripts: compiles them and the sources with .swcrc, like Jest.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const ROOT = new URL('../../', import.meta.url);
// worker threads get the same --import, but run compiled files
if (isMainThread) await loadTypeScript();

async function loadTypeScript() {
  const { transformSync } = await import('@swc/core');
  process.setSourceMapsEnabled(true, { nodeModules: false, generatedCode: false });
  registerHooks({
    resolve(specifier, context, next) {
      if (!isOurs(context.parentURL)) return next(specifier, context);
      if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return next(specifier, context);
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      return existsSync(source) ? { url: source.href, shortCircuit: true } : next(specifier, context);
    },
    load(url, context, next) {
      if (!isOurs(url) || !new URL(url).pathname.endsWith('.ts')) return next(url, context);
      const filename = fileURLToPath(url);
      const options = { filename, cwd: fileURLToPath(ROOT), sourceMaps: 'inline' };
      const { code } = transformSync(readFileSync(filename, 'utf8'), options);
      return { format: 'module', source: code, shortCircuit: true };
    },
  });
}

/** @param {string | undefined} url */
function isOurs(url) {
  return url !== undefined && url.startsWith(ROOT.href) && !url.includes('/node_modules/');
}
