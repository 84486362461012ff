import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, startPretendBank } from '../support/pretend-bank.js';
import { control, start } from '../support/sandbox.js';

let gateway: Gateway;
let sandbox: Sandbox;
let clock: MovedClock;
beforeEach(async () => {
  sandbox = await start();
  clock = new MovedClock();
  gateway = await startGateway(sandbox, {}, clock);
});

/** The bytes as they came. */
function fetchRaw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }>();
  request(`${gateway.url}${path}`, { method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    );
  })
    .on('error', reject)
    .end();
  return promise;
}

const PATH = '/api/v1/accounts';

describe('answers are tagged and compressed', () => {
  it('an unchanged list is 304 with the headers of its age and no body, whichever way the tag is written', async () => {
    const first = await fetchRaw(PATH);
    const tag = String(first.headers['etag']);
    expect(tag).toMatch(/^W\/"[\w-]+"$/);
    for (const sent of [tag, tag.replace('W/', ''), `"other", ${tag}`, '*']) {
      const again = await fetchRaw(PATH, { 'if-none-match': sent });
      expect(again.status).toBe(304);
      expect(again.body).toHaveLength(0);
      expect(again.headers['etag']).toBe(tag);
      expect(again.headers['snapshot-as-of']).toBe(first.headers['snapshot-as-of']);
      expect(again.headers['cache-control']).toMatch(/^private, max-age=\d+$/);
      expect(again.headers['vary']).toBe(first.headers['vary']);
      expect(again.headers['x-request-id']).toBeDefined();
    }
    for (const sent of ['"other"', 'W/"other"', tag.slice(0, -2), '']) {
      expect((await fetchRaw(PATH, { 'if-none-match': sent })).status).toBe(200);
    }
  });

  it('the tag stays while the data does, over refreshes and processes, and changes when the data or its state does', async () => {
    const first = await fetchRaw(PATH);
    clock.advance(20_000);
    const later = await fetchRaw(PATH, { 'if-none-match': String(first.headers['etag']) });
    expect(later.status).toBe(304);
    // the body that the caller holds is older than this says
    expect(String(later.headers['snapshot-as-of']) > String(first.headers['snapshot-as-of'])).toBe(true);
    const other = await startGateway(sandbox);
    expect((await other.get(PATH)).headers.etag).toBe(first.headers['etag']);

    expect((await fetchRaw(`${PATH}?pageNumber=2`)).headers['etag']).not.toBe(first.headers['etag']);
    await control(sandbox, 'PATCH', { accounts: 119 });
    clock.advance(20_000);
    expect((await fetchRaw(PATH, { 'if-none-match': String(first.headers['etag']) })).status).toBe(200);
  });

  it('a stale copy has a tag of its own', async () => {
    const first = await fetchRaw(PATH);
    await sandbox.close();
    clock.advance(20_000);
    const stale = await fetchRaw(PATH, { 'if-none-match': String(first.headers['etag']) });
    expect(stale.status).toBe(200);
    expect(stale.headers['snapshot-stale']).toBe('true');
    expect(stale.headers['etag']).not.toBe(first.headers['etag']);
  });

  it('is compressed as the caller accepts it, to the same bytes', async () => {
    const plain = await fetchRaw(PATH);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const forms: [string, string, (body: Buffer) => Buffer][] = [
      ['gzip', 'gzip', gunzipSync],
      ['br', 'br', brotliDecompressSync],
      ['br, gzip', 'br', brotliDecompressSync],
      ['br;q=0.5, gzip', 'gzip', gunzipSync],
    ];
    for (const [accepted, encoding, expand] of forms) {
      const packed = await fetchRaw(PATH, { 'accept-encoding': accepted });
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(packed.body.length).toBeLessThan(plain.body.length / 4);
      expect(Number(packed.headers['content-length'])).toBe(packed.body.length);
      expect(expand(packed.body).equals(plain.body)).toBe(true);
      expect(packed.headers['vary']).toMatch(/Accept-Encoding/i);
      expect(packed.headers['etag']).toBe(plain.headers['etag']);
    }
    for (const accepted of ['identity', 'deflate', 'gzip;q=0, br;q=0', '']) {
      const same = await fetchRaw(PATH, { 'accept-encoding': accepted });
      expect(same.headers['content-encoding']).toBeUndefined();
      expect(same.body.equals(plain.body)).toBe(true);
    }
  });

  it('HEAD gives the headers of GET and no body', async () => {
    for (const path of [PATH, `${PATH}?pageSize=5`, '/health', '/health/live', '/openapi.json', '/problems']) {
      const [head, full] = [await fetchRaw(path, {}, 'HEAD'), await fetchRaw(path)];
      expect(head.status).toBe(full.status);
      expect(head.body).toHaveLength(0);
      for (const name of ['content-type', 'etag', 'cache-control', 'snapshot-as-of', 'vary']) {
        expect([name, head.headers[name]]).toEqual([name, full.headers[name]]);
      }
      if (!path.startsWith('/health')) expect(head.headers['content-length']).toBe(full.headers['content-length']);
    }
    const missing = await fetchRaw('/api/v1/accounts/nobody', {}, 'HEAD');
    expect(missing).toMatchObject({
      status: 404,
      headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    });
    expect(missing.body).toHaveLength(0);
  });

  it('every route compresses what is over 1 KB, and says that it depends on what is accepted', async () => {
    const html = (await fetchRaw('/', { accept: 'text/html' })).body.toString();
    const assets = [...html.matchAll(/\/assets\/[^"]+\.(?:js|css)/g)].map(([path]) => path);
    expect(assets.length).toBeGreaterThan(1);
    const paths = ['/metrics', '/openapi.json', '/problems', '/docs', '/docs/guide', ...assets];
    for (const path of [...paths, `${PATH}?format=csv`, `${PATH}?format=ndjson`]) {
      for (const [encoding, decompress] of [['br', brotliDecompressSync] as const, ['gzip', gunzipSync] as const]) {
        const { headers, body } = await fetchRaw(path, { 'accept-encoding': encoding });
        const { 'content-encoding': used, vary } = headers;
        expect({ path, used, vary: /accept-encoding/i.test(String(vary)) }).toEqual({
          path,
          used: encoding,
          vary: true,
        });
        expect(decompress(body).length).toBeGreaterThan(body.length);
      }
      expect((await fetchRaw(path)).headers['content-encoding']).toBeUndefined();
    }
    expect((await fetchRaw('/health/live', { 'accept-encoding': 'br' })).headers['content-encoding']).toBeUndefined();
  });
});

describe('errors', () => {
  it('a navigation that fails gets the problem as a page with the same status, a program gets JSON', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = (_request, response) => json(response, 500, {});
    const gateway = await startGateway(bank);
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    for (const [path, status, code] of [
      ['/api/v1/accounts', 503, 'bank-error'],
      ['/nothing/<b>', 404, 'not-found'],
      ['/api/v1/accounts?pageSize=x', 400, 'invalid-request'],
    ] as const) {
      const page = await gateway.get(path, browser);
      expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
        status,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      expect(page.text).toContain(`href="/problems"`);
      expect(page.text).toContain(`<code>${code}</code>`);
      expect(page.text).toContain(page.headers['x-request-id']);
      expect(page.text).not.toContain('<b>"');
      expect(page.headers['content-security-policy']).toContain("style-src 'self'");
      expect(page.headers['retry-after'] === undefined).toBe(status !== 503);
      for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
        const problem = await gateway.get(path, { accept });
        expect([problem.status, problem.headers['content-type'], problem.json.code]).toEqual([
          status,
          'application/problem+json; charset=utf-8',
          code,
        ]);
      }
    }
  });
});
