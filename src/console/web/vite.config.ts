import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Each file of the page once more, compressed, so that none is compressed while serving. */
function precompress(): Plugin {
  let directory = '';
  return {
    name: 'precompress',
    apply: 'build',
    configResolved: ({ build }) => {
      directory = join(build.outDir, 'assets');
    },
    closeBundle: () => {
      for (const name of readdirSync(directory).filter((each) => !each.endsWith('.br'))) {
        writeFileSync(join(directory, `${name}.br`), brotliCompressSync(readFileSync(join(directory, name))));
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [precompress()],
  build: {
    outDir: join(import.meta.dirname, '../../../dist/console/web'),
    emptyOutDir: true,
    target: 'es2022',
    // an address that begins with data: would need more of the content security policy
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // npm run console: the page alone, again at each change, before a gateway that runs
  // the Host as it came: the switches of the sandbox are for the page of that host only
  server: {
    proxy: { '^/(api|health|problems|sandbox|openapi|docs)': { target: 'http://127.0.0.1:3000', changeOrigin: false } },
  },
});
