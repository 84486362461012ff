import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: join(import.meta.dirname, '../../../../dist/console'),
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
