import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/time/clock.js';
import type { Answer } from '../support/call.js';
import { temporaryDirectory } from '../support/closing.js';
import { coded, documentPaths, itemsOf, readDocument, under } from '../support/documents.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const api = readDocument('docs/api.md');

let gateway: Gateway;
let paths: object;
beforeAll(async () => {
  const bank = await start();
  gateway = await startGateway(bank, {}, new Clock(), bank.control);
  ({ paths } = (await gateway.get('/openapi.json')).json as { paths: typeof paths });
});

const routes = itemsOf(under(api, 'Routes')).flatMap(({ names }) => names);

describe('the routes in docs/api.md', () => {
  it('include all of the OpenAPI document', () => {
    expect(Object.keys(paths).filter((path) => !routes.includes(path))).toEqual([]);
  });

  it('are all served', async () => {
    const { json } = await gateway.get('/api/v1/accounts');
    const id = json.accounts[0].id as string;
    for (const path of routes) {
      const { status } = await gateway.head(path.replace('{accountId}', id).replace('{code}', 'bank-timeout'));
      expect({ path, served: status === 200 || status === 302 }).toEqual({ path, served: true });
    }
  });
});

describe('an account in docs/api.md', () => {
  it('has the fields of a response, in their order', async () => {
    const { json } = await gateway.get('/api/v1/accounts?pageSize=1');
    const documented = itemsOf(under(api, 'Account')).flatMap(({ names }) => names);
    expect(documented).toEqual(Object.keys(json.accounts[0] as object));
  });

  it('has the columns of the CSV header line', async () => {
    const { text: csv } = await gateway.get('/api/v1/accounts?format=csv');
    const [, after = ''] = api.split('Its columns:\n\n');
    const columns = coded(after.split('\n\n')[0]);
    expect(columns).toEqual(csv.replace('\uFEFF', '').split('\r\n')[0]?.split(','));
  });
});

describe('the documents', () => {
  const addressesIn = (document: string) =>
    [...document.matchAll(/http:\/\/(?:localhost|127\.0\.0\.1):3000(\/[^\s'"`>)]*)/g)].map(([, path = '']) => path);

  it.each(documentPaths())('name only addresses that exist: %s', async (path) => {
    for (const address of new Set(addressesIn(readDocument(path)))) {
      const { status } = await gateway.head(address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
  });
});

const FOR_DEVELOPERS = new Set(['bounds.md', 'dependencies.md']);
const names = readdirSync(DOCS).filter((name) => name.endsWith('.md') && !FOR_DEVELOPERS.has(name));
const addressOf = (name: string) => (name === 'README.md' ? '/docs/guide' : `/docs/guide/${name.replace('.md', '')}`);

describe('the guide', () => {
  const answers = new Map<string, Promise<Answer>>();
  /** The response for a path, fetched once. */
  const answerOf = (path: string): Promise<Answer> => {
    const answer = answers.get(path) ?? gateway.get(path);
    answers.set(path, answer);
    return answer;
  };

  it.each(names)('shows %s, and each of its links and pictures exists', async (name) => {
    const { status, headers, text: html } = await answerOf(addressOf(name));
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).toMatch(/<h1 id="[^"]+">/);
    expect(html).not.toMatch(/<script(?! type="module" src="\/docs\/guide\/page\.js">)|\sstyle=/);
    for (const [, address = ''] of html.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
      const [path = '', anchor] = address.split('#');
      const target = await answerOf(path);
      expect([address, target.status]).toEqual([address, 200]);
      if (anchor && path.startsWith('/docs/guide'))
        expect([address, target.text.includes(`id="${anchor}"`)]).toEqual([address, true]);
    }
  });

  it.each([
    ['client', '/docs/guide/errors#network-error'],
    ['changelog', '/docs/guide/api#freshness'],
    ['api', '/docs/guide/client#install'],
  ])('links %s with %s', async (name, address) => {
    expect((await answerOf(`/docs/guide/${name}`)).text).toContain(`<a href="${address}"`);
  });

  it('has a search whose every part exists', async () => {
    const { json: parts } = await gateway.get('/docs/guide/search.json');
    expect((parts as { href: string }[]).length).toBeGreaterThan(100);
    for (const { href } of parts as { href: string }[]) {
      const [path = '', anchor] = href.split('#');
      expect([href, (await answerOf(path)).text.includes(`id="${anchor}"`)]).toEqual([href, true]);
    }
  });

  it('lists the contents of a page below its link', async () => {
    const { text: html } = await answerOf('/docs/guide/deploy');
    expect(html).toMatch(/<a href="\/docs\/guide\/deploy" aria-current="page">[^<]+<\/a><ul><li><a href="#/);
  });

  it.each([
    '/docs/guide/none',
    '/docs/guide/../package.json',
    '/docs/guide/%2e%2e%2fmain.js',
    '/docs/none',
    '/docs/guide/dependencies',
    '/docs/guide/decisions/0004-axios',
  ])('returns 404 for %s', async (path) => {
    expect((await gateway.get(path)).json).toMatchObject({ status: 404, code: 'not-found' });
  });
});

it('the API reference describes every route of the OpenAPI document, and runs only the script of all pages', async () => {
  const { text: html, headers } = await gateway.get('/docs');
  expect(Object.keys(paths).length).toBeGreaterThan(5);
  for (const path of Object.keys(paths)) expect(html).toContain(`GET ${path}</h2>`);
  const anchors = [...html.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(anchors.filter((anchor) => !html.includes(`id="${anchor}"`))).toEqual([]);
  expect(html).not.toMatch(/<script(?! type="module" src="\/docs\/guide\/page\.js">)|\sstyle=/);
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;/,
  );
});

it('an app installs the typed client from the gateway, and calls it', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const directory = temporaryDirectory();
  const installed = join(directory, 'node_modules/accounts-gateway-client');
  const packed = await fetch(`${gateway.url}/client/accounts-gateway-client-${version}.tgz`);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xz', '--strip-components=1', '-C', installed], {
    input: Buffer.from(await packed.arrayBuffer()),
  });
  writeFileSync(
    join(directory, 'app.mjs'),
    `import { createClient } from 'accounts-gateway-client';
      const { page } = await createClient({ baseUrl: '${gateway.url}' }).listAccounts({});
      console.log(page.total);`,
  );
  const app = spawn(process.execPath, ['app.mjs'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  expect((await text(app.stdout)).trim()).toBe('120');
});

it('a client of another version is a 404, whose detail contains the served version', async () => {
  const { json } = await gateway.get('/client/accounts-gateway-client-0.0.0.tgz');
  expect(json).toMatchObject({ status: 404, detail: expect.stringContaining('accounts-gateway-client-') });
});
