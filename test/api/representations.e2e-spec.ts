import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';

const PATH = '/api/v1/accounts';

const bank = await bankForFile();
const clock = new MovedClock();
clock.stop();
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway(bank, {}, clock);
});
beforeEach(() => {
  bank.onAccounts = listSample(50);
  // nothing remains of the previous test: snapshot, token and back-off have expired
  clock.advance(400_000);
});

/** The response as raw bytes, not decompressed. */
function fetchRaw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }>();
  request(`${gateway.url}${path}`, { method, headers, agent: false }, async (response) => {
    const body = Buffer.concat(await response.toArray());
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
  })
    .on('error', reject)
    .end();
  return promise;
}

describe('ETags', () => {
  it('unchanged data is a 304 with the freshness headers and no body, for a weak tag, a strong tag or a list of tags', async () => {
    const first = await fetchRaw(PATH);
    const tag = String(first.headers['etag']);
    expect(tag).toMatch(/^W\/"[\w-]+"$/);
    for (const sent of [tag, tag.replace('W/', ''), `"other", ${tag}`, '*']) {
      const again = await fetchRaw(PATH, { 'if-none-match': sent });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      for (const name of ['etag', 'snapshot-as-of', 'vary']) expect(again.headers[name]).toBe(first.headers[name]);
      expect(again.headers['cache-control']).toMatch(/^private, max-age=\d+$/);
      expect(again.headers['x-request-id']).toBeDefined();
    }
    for (const sent of ['"other"', 'W/"other"', tag.slice(0, -2), '']) {
      expect((await fetchRaw(PATH, { 'if-none-match': sent })).status).toBe(200);
    }
  });

  it('the tag survives refreshes and restarts while data and state are unchanged, and changes with either', async () => {
    const first = await fetchRaw(PATH);
    const unlessSame = { 'if-none-match': String(first.headers['etag']) };
    clock.advance(20_000);
    const later = await fetchRaw(PATH, unlessSame);
    expect(later.status).toBe(304);
    // the header is newer than asOf in the body that the caller has kept
    expect(String(later.headers['snapshot-as-of']) > String(first.headers['snapshot-as-of'])).toBe(true);
    const other = await startGateway(bank);
    expect((await other.get(PATH)).headers.etag).toBe(first.headers['etag']);
    expect((await fetchRaw(`${PATH}?pageSize=49`, unlessSame)).status).toBe(200);

    clock.advance(20_000);
    bank.onAccounts = (_request, response) => json(response, 500, {});
    const stale = await fetchRaw(PATH, unlessSame);
    expect([stale.status, stale.headers['snapshot-stale']]).toEqual([200, 'true']);

    clock.advance(60_000);
    bank.onAccounts = listSample(49);
    expect((await fetchRaw(PATH, unlessSame)).status).toBe(200);
  });

  it('HEAD returns the headers of GET and no body', async () => {
    const paths = [
      PATH,
      `${PATH}?format=csv`,
      '/health',
      '/health/live',
      '/openapi.json',
      '/problems',
      `${PATH}/nobody`,
    ];
    for (const path of paths) {
      const [head, full] = [await fetchRaw(path, {}, 'HEAD'), await fetchRaw(path)];
      expect([head.status, head.body.length]).toEqual([full.status, 0]);
      for (const name of ['content-type', 'etag', 'cache-control', 'snapshot-as-of', 'vary']) {
        expect([path, name, head.headers[name]]).toEqual([path, name, full.headers[name]]);
      }
      if ([PATH, '/openapi.json', '/problems'].includes(path)) {
        expect(head.headers['content-length']).toBe(full.headers['content-length']);
      }
    }
  });
});

describe('compression', () => {
  it('follows Accept-Encoding, and decompresses to the same bytes', async () => {
    const plain = await fetchRaw(PATH);
    const forms: [string, string, (body: Buffer) => Buffer][] = [
      ['br, gzip', 'br', brotliDecompressSync],
      ['br;q=0.5, gzip', 'gzip', gunzipSync],
    ];
    for (const [accepted, encoding, expand] of forms) {
      const packed = await fetchRaw(PATH, { 'accept-encoding': accepted });
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(packed.body.length).toBeLessThan(plain.body.length / 4);
      expect(Number(packed.headers['content-length'])).toBe(packed.body.length);
      expect(expand(packed.body).equals(plain.body)).toBe(true);
      expect(packed.headers['etag']).toBe(plain.headers['etag']);
    }
    for (const accepted of ['identity', 'deflate', 'gzip;q=0, br;q=0', '']) {
      const same = await fetchRaw(PATH, { 'accept-encoding': accepted });
      expect(same.headers['content-encoding']).toBeUndefined();
      expect(same.body.equals(plain.body)).toBe(true);
    }
  });

  it('the API and fixed documents above 1 KB are compressed, with Vary: Accept-Encoding', async () => {
    const html = (await fetchRaw('/', { accept: 'text/html' })).body.toString();
    const assets = [...html.matchAll(/\/assets\/[^"]+\.(?:js|css)/g)].map(([path]) => path);
    expect(assets.length).toBeGreaterThan(1);
    const paths = ['/openapi.json', '/problems', '/docs', '/docs/guide', ...assets];
    for (const path of [...paths, `${PATH}?format=csv`, `${PATH}?format=ndjson`]) {
      for (const [encoding, decompress] of [['br', brotliDecompressSync] as const, ['gzip', gunzipSync] as const]) {
        const { headers, body } = await fetchRaw(path, { 'accept-encoding': encoding });
        const vary = /accept-encoding/i.test(String(headers['vary']));
        expect({ path, used: headers['content-encoding'], vary }).toEqual({ path, used: encoding, vary: true });
        expect(decompress(body).length).toBeGreaterThan(body.length);
      }
      expect((await fetchRaw(path)).headers['content-encoding']).toBeUndefined();
    }
  });

  it.each(['/metrics', '/health', '/health/recent', '/health/live', `${PATH}?pageSize=0`])(
    'the negative case: %s is not compressed',
    async (path) => {
      const { headers, body } = await fetchRaw(path, { 'accept-encoding': 'br, gzip' });
      expect(headers['content-encoding']).toBeUndefined();
      expect(Number(headers['content-length'])).toBe(body.length);
    },
  );
});

describe('a download', () => {
  it('a slow reader gets the whole list of one snapshot, although two refreshes happen during it', async () => {
    // the same snapshot, however long the first download takes
    clock.stop();
    bank.onAccounts = listSample(4000);
    const whole = await gateway.get(`${PATH}?format=csv`);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    request(`${gateway.url}${PATH}?format=csv`, { agent: false }, (response) => {
      response.once('readable', async () => {
        bank.onAccounts = listSample(3);
        for (let refresh = 0; refresh < 2; refresh++) {
          clock.advance(20_000);
          expect((await gateway.get(PATH)).json.page.total).toBe(3);
        }
        response.setEncoding('utf8');
        resolve((await response.toArray()).join(''));
      });
    })
      .on('error', reject)
      .end();
    expect(await promise).toBe(whole.text);
  });
});

describe('errors', () => {
  it('a browser navigation that fails gets an HTML page with the same status, a program gets JSON', async () => {
    bank.onAccounts = (_request, response) => json(response, 500, {});
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    for (const [path, status, code] of [
      [PATH, 503, 'bank-error'],
      ['/nothing/<b>', 404, 'not-found'],
      [`${PATH}?pageSize=x`, 400, 'invalid-request'],
    ] as const) {
      const page = await gateway.get(path, browser);
      expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
        status,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      for (const part of [`href="/problems/${code}"`, page.headers['x-request-id']]) {
        expect(page.text).toContain(part);
      }
      expect(page.text).not.toContain('<b>"');
      expect(page.headers['content-security-policy']).toContain("style-src 'self'");
      expect(page.headers['retry-after'] === undefined).toBe(status !== 503);
      for (const accept of ['*/*', 'application/json, text/html;q=0.5']) {
        const problem = await gateway.get(path, { accept });
        const type = 'application/problem+json; charset=utf-8';
        expect([problem.status, problem.headers['content-type'], problem.json.code]).toEqual([status, type, code]);
      }
    }
  });
});
