import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { ICON, toPageEnd, toPageHeader } from '../../html/page-header.js';

/** The header of all pages, in the HTML before any script runs. */
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
    // a data: URL would need a looser content security policy
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'accounts.html'].map((name) => join(import.meta.dirname, name)),
    },
  },
  // npm run console: only the pages, updated at each change, in front of a running gateway. Host is passed on
  // unchanged: the sandbox's switches are only for the page of that host
  server: {
    proxy: { '^/(api|health|problems|sandbox|openapi|docs)': { target: 'http://127.0.0.1:3000', changeOrigin: false } },
  },
});
