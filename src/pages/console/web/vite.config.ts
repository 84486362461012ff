import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { ICON, toPageEnd, toPageHeader } from '../../html/page-header.js';

/** The header that all pages share, in the HTML before any script runs. */
const pageHeader: Plugin = {
  name: 'page-header',
  transformIndexHtml: (html, { path }) =>
    html
      .replace('<!-- icon -->', `<link rel="icon" href="${ICON}" />`)
      .replace('<!-- header -->', toPageHeader(path === '/accounts.html' ? '/accounts' : '/'))
      .replace('</body>', `${toPageEnd()}</body>`),
  // `npm run console` serves the pages at the gateway's paths
  configureServer(server) {
    server.middlewares.use((request, _response, next) => {
      request.url = request.url?.replace(/^\/accounts(?=\?|$)/, '/accounts.html') ?? '/';
      next();
    });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [pageHeader],
  build: {
    outDir: join(import.meta.dirname, '../../../../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // an address that begins with data: would need more of the content security policy
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'accounts.html'].map((name) => join(import.meta.dirname, name)),
    },
  },
  // npm run console: the pages alone, again at each change, before a gateway that runs
  // the Host as it came: the switches of the sandbox are for the page of that host only
  server: {
    proxy: { '^/(api|health|problems|sandbox|openapi|docs)': { target: 'http://127.0.0.1:3000', changeOrigin: false } },
  },
});
