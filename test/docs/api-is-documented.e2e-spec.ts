import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/time/clock.js';
import { coded, documentPaths, read, readDocument, ROOT, rowsUnder } from '../support/documents.js';
import { prepareGateway, startGateway, type Gateway } from '../support/gateway.js';
import { rawCall } from '../support/raw-connection.js';
import { start } from '../support/sandbox.js';
import { publicNames, type ApiNames } from './public-names.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { enum?: string[]; minimum?: number; maximum?: number; default?: unknown };
}

/** Pages, files and switches, which no program builds on. */
const NOT_IN_THE_API = [
  '/',
  '/assets/:name',
  '/client/:name',
  '/docs',
  '/docs/guide',
  '/docs/guide.css',
  '/docs/guide/*',
  '/openapi.json',
  '/sandbox/control',
];

const api = readDocument('docs/api.md');

const served = new Set<string>();
let gateway: Gateway;
/** Its bank is away, and it has read nothing. */
let notReady: Gateway;
let openApi: ApiNames;
let paths: Record<string, { get: { parameters?: Parameter[] } }>;
beforeAll(async () => {
  const bank = await start();
  const prepared = await prepareGateway(bank, {}, new SystemClock(), bank.control);
  const fastify = prepared.app.getHttpAdapter().getInstance() as FastifyInstance;
  fastify.addHook('onRoute', ({ method, url }) => void ([method].flat().includes('GET') && served.add(url)));
  gateway = await prepared.listen();
  openApi = (await gateway.get('/openapi.json')).json as ApiNames;
  paths = openApi.paths as typeof paths;
  const nowhere = 'https://127.0.0.1:1';
  notReady = await startGateway({ ...bank, url: nowhere, authUrl: nowhere });
});

const routes = rowsUnder(api, 'path', 'answer').flatMap(([path]) => coded(path));

describe('the routes in docs/api.md', () => {
  it('are all that the OpenAPI document has', () => {
    expect(Object.keys(paths).filter((path) => !routes.includes(path))).toEqual([]);
  });

  it('are served, all of them', async () => {
    const { json } = await gateway.get('/api/v1/accounts');
    const id = json.accounts[0].id as string;
    for (const path of routes) {
      const { status } = await gateway.head(path.replace('{accountId}', id).replace('{code}', 'bank-timeout'));
      expect({ path, served: status === 200 || status === 302 }).toEqual({ path, served: true });
    }
  });
});

describe('the parameters in docs/api.md', () => {
  const rows = new Map(rowsUnder(api, 'parameter', 'value').map(([name, value = '']) => [coded(name).join(), value]));
  const known = (path: string) =>
    new Map((paths[path]?.get.parameters ?? []).filter((each) => each.in === 'query').map((each) => [each.name, each]));
  const list = () => known('/api/v1/accounts');

  it('are those of the list, each with a row of its own', () => {
    const documented = [...rows.keys()];
    expect(documented.toSorted()).toEqual([...list().keys()].toSorted());
  });

  it('say which are filters: those that /api/v1/balances takes', () => {
    const path = '/api/v1/balances';
    const filters = [...rows].filter(([, value]) => value.startsWith('filter')).map(([name]) => name);
    expect(filters.toSorted()).toEqual([...known(path).keys()].toSorted());
  });

  it('say the values, ranges and defaults that the schemas have', () => {
    for (const [name, { schema }] of list()) {
      const value = rows.get(name) ?? '';
      const words = coded(value);
      const ascending = schema.enum?.filter((word) => !word.startsWith('-')) ?? [];
      expect({ name, values: ascending.filter((word) => !words.includes(word)) }).toEqual({ name, values: [] });
      if (schema.maximum !== undefined) expect(value).toContain(`${schema.minimum}–${schema.maximum}`);
      if (schema.default !== undefined)
        expect(value).toMatch(new RegExp(`default ${String(schema.default)}|\`${String(schema.default)}\` \\(default`));
    }
  });
});

describe('an account in docs/api.md', () => {
  it('has the fields that an answer has, in their order', async () => {
    const { json } = await gateway.get('/api/v1/accounts?pageSize=1');
    const documented = rowsUnder(api, 'field').flatMap(([field]) => coded(field));
    expect(documented).toEqual(Object.keys(json.accounts[0] as object));
  });

  it('and its CSV has the columns that the header line has', async () => {
    const { text } = await gateway.get('/api/v1/accounts?format=csv');
    const [, after = ''] = api.split('Its columns:\n\n');
    const columns = coded(after.split('\n\n')[0]);
    expect(columns).toEqual(text.replace('\uFEFF', '').split('\r\n')[0]?.split(','));
  });
});

describe('the examples', () => {
  const addressesIn = (text: string) =>
    [...text.matchAll(/http:\/\/(?:localhost|127\.0\.0\.1):3000(\/[^\s'"`>)]*)/g)].map(([, path = '']) => path);

  it.each(documentPaths())('in %s name addresses that are answered', async (path) => {
    for (const address of new Set(addressesIn(readDocument(path)))) {
      const { status } = await gateway.head(address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
  });

  it('the answer in the README is the one that its command gets, but for the times', async () => {
    const [, path = '', text = ''] =
      /curl 'http:\/\/localhost:3000([^']+)'\n```\n\n```json\n([\s\S]+?)```/.exec(readDocument('README.md')) ?? [];
    const { text: answer } = await gateway.get(path);
    expect(withoutTimes(text)).toEqual(withoutTimes(answer));
    expect(withoutTimes(text.replace('"0"', '"0.00"'))).not.toEqual(withoutTimes(answer));
  });

  function withoutTimes(text: string): unknown {
    return JSON.parse(text, (name, value: unknown) =>
      ['financialDate', 'lastTransactionAt', 'asOf'].includes(name) ? typeof value : value,
    );
  }
});

const proxies = readDocument('docs/reverse-proxies.md');

/** The status of what haproxy sends for these lines. */
const statusOf = async (lines: readonly string[], { port }: Gateway = gateway) =>
  (await rawCall(port, [...lines, '', ''].join('\r\n'))).status;

describe('the probe of a load balancer, as docs/reverse-proxies.md has it for haproxy', () => {
  it('by http-check send is answered 200', async () => {
    const [, method, path, version, host] =
      /http-check send meth (\S+) uri (\S+) ver (\S+) hdr Host (\S+)/.exec(proxies) ?? [];
    expect(host).toBeDefined();
    expect(await statusOf([`${method} ${path} ${version}`, `Host: ${host}`])).toBe(200);
  });

  it('by the short form, without Host over HTTP/1.0, is answered 200', async () => {
    const [, method, path] = /`option httpchk (\S+) (\S+)` works/.exec(proxies) ?? [];
    expect(await statusOf([`${method} ${path} HTTP/1.0`])).toBe(200);
  });

  it('the negative case: the bare form is answered 400, as the page says', async () => {
    expect(proxies).toMatch(/sends `OPTIONS \/` over HTTP\/1\.0 without a\s`Host`, which is answered 400/);
    expect(await statusOf(['OPTIONS / HTTP/1.0'])).toBe(400);
  });

  it('the negative case: GET shows that a gateway is not ready, OPTIONS does not, as the page says', async () => {
    expect(await statusOf(['GET /health/ready HTTP/1.0'], notReady)).toBe(503);
    expect(await statusOf(['OPTIONS /health/ready HTTP/1.0'], notReady)).toBe(204);
  });
});

describe('a new route', () => {
  it('is in the OpenAPI document, or listed here as one that no program builds on', () => {
    const described = Object.keys(openApi.paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
    expect([...served].toSorted()).toEqual([...described, ...NOT_IN_THE_API].toSorted());
  });

  it('is called by a test', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.e2e-spec.ts') && !name.startsWith('docs'))
      .map((name) => read(join('test', name)))
      .join('');
    const untested = (paths: readonly string[]) => paths.filter((path) => !tests.includes(path.replace(/\{.*/, '')));
    expect(untested(Object.keys(openApi.paths))).toEqual([]);
    expect(untested(['/api/v1/forgotten'])).toEqual(['/api/v1/forgotten']);
  });
});

describe('a name that came or went since the last release', () => {
  const released = JSON.parse(read('test/docs/released.json')) as { version: string; names: string[] };
  const [, unreleased = ''] = /^## \[Unreleased\]\n(.*?)^## \[/ms.exec(read('CHANGELOG.md')) ?? [];
  const forgotten = (names: readonly string[]) => {
    const came = names.filter((name) => !released.names.includes(name));
    const went = released.names.filter((name) => !names.includes(name));
    return [...came, ...went].filter((name) => !unreleased.includes(name));
  };

  it('is in the CHANGELOG, under [Unreleased]', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({ version: released.version });
    expect(forgotten(publicNames(openApi))).toEqual([]);
  });

  it('the negative case: one that is missing there is found', () => {
    expect(forgotten([...released.names.slice(1), 'ALLOWED_NONE'])).toEqual(['ALLOWED_NONE', released.names[0]]);
  });
});
