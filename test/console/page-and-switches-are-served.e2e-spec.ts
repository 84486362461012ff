import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it, afterAll } from '@jest/globals';
import type { Browser } from 'puppeteer-core';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { Clock } from '../../src/time/clock.js';
import { startFirefox } from '../support/client-pages.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { hasFirefox } from '../support/tools.js';
import { until } from '../support/until.js';

let bank: Sandbox;
let gateway: Gateway;
beforeAll(async () => {
  bank = await start();
  gateway = await startGateway(bank, {}, new Clock(), bank.control);
});

const filesOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

describe('the live pages', () => {
  it.each(['/', '/accounts?q=any&currency=EUR'])(
    'are HTML that runs and loads only its own files: %s',
    async (path) => {
      const { status, headers, text } = await gateway.get(path, { accept: 'text/html,*/*;q=0.8' });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-frame-options': 'DENY',
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;/,
      );
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
      expect(text).toContain('data-mode="sandbox"');
      // form and header exist before any script runs
      expect(text).toMatch(/class="[^"]*\bskeleton\b/);
      for (const name of ['Status', 'Accounts', 'API', 'Guide', 'Errors']) expect(text).toContain(`>${name}</a>`);
    },
  );

  it('have files that are cached forever, because their names contain a hash, and that are already compressed', async () => {
    const paths = filesOf((await gateway.get('/')).text);
    expect(new Set(paths.map((path) => path.replace(/^.*\./, '')))).toEqual(new Set(['css', 'js']));
    for (const path of paths) {
      const { status, headers, text } = await gateway.get(path);
      expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      const compressed = await fetch(`${gateway.url}${path}`, { headers: { 'accept-encoding': 'br' } });
      expect(compressed.headers.get('content-encoding')).toBe('br');
      expect((await compressed.text()).length).toBe(text.length);
    }
  });

  it.each(['/assets/none.js', '/assets/%2e%2e/index.html'])('have no other files: %s', async (path) => {
    const { status, json } = await gateway.get(path);
    expect([status, json.code]).toEqual([404, 'not-found']);
  });
});

describe('the switches of the embedded sandbox', () => {
  const call = (method: string, body?: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/sandbox/control`, {
      method,
      ...(body !== undefined && { body }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
  const problemOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code];

  it('can be read, set and reset', async () => {
    await gateway.get('/api/v1/accounts');
    const { json, text } = await gateway.get('/sandbox/control');
    expect(json).toMatchObject({ latencyMs: 0, movement: false, requests: [expect.anything(), expect.anything()] });
    // tokens begin with this
    for (const secret of [readFileSync(bank.files.password, 'utf8'), 'eyJhbGciOi']) expect(text).not.toContain(secret);
    const turned = await call('PATCH', '{"movement":true,"latencyMs":5}');
    expect([turned.status, turned.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await turned.json()).toMatchObject({ movement: true, latencyMs: 5 });
    expect(bank.control.state).toMatchObject({ movement: true, latencyMs: 5 });
    const reset = await call('DELETE');
    expect(await reset.json()).toMatchObject({ movement: false, latencyMs: 0 });
  });

  it('are set as a whole, or not at all', async () => {
    const wrong = await call('PATCH', '{"movement":true,"latencyMs":-1}');
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      code: 'invalid-request',
      errors: [{ name: 'latencyMs', reason: expect.any(String) }],
    });
    expect(await problemOf(await call('PATCH', '{'))).toEqual([400, 'malformed-request']);
    const large = await call('PATCH', `{"movement":true${' '.repeat(2000)}}`);
    expect(await problemOf(large)).toEqual([413, 'request-too-large']);
    expect(bank.control.state.movement).toBe(false);
  });

  it('cause no internal error if a caller leaves in the middle of a body', async () => {
    const logging = await startGateway(bank, { LOG_LEVEL: 'info' }, new Clock(), bank.control);
    const socket = connect(logging.port, '127.0.0.1');
    const head = ['PATCH /sandbox/control HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
    socket.write([...head, 'Content-Length: 100', '', '{"latency'].join('\r\n'), () => socket.destroy());
    await until(() => logging.events('request').length > 0);
    expect(logging.events('request')).toMatchObject([{ route: '/sandbox/control', status: 499 }]);
    expect(logging.events('request.failed')).toEqual([]);
  });

  it.each([
    ['another origin', { origin: 'http://evil.example' }],
    ['a web app on this machine', { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' }],
    ['an origin that hides', { origin: 'null' }],
    ['another site, without Origin', { 'sec-fetch-site': 'cross-site' }],
  ])('cannot be used by a page of %s', async (_name, headers: Record<string, string>) => {
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', '{"movement":true}']] as const) {
      expect(await problemOf(await call(method, body, headers))).toEqual([403, 'client-not-allowed']);
    }
    expect(bank.control.state.movement).toBe(false);
  });

  it('the negative case: accept the page itself', async () => {
    const own = { origin: gateway.url, 'sec-fetch-site': 'same-origin' };
    expect((await call('PATCH', '{"movement":true}', own)).status).toBe(200);
    expect((await call('DELETE', undefined, own)).status).toBe(200);
  });

  it('the negative case: do not exist with a real bank, and the page does not show sandbox', async () => {
    const live = await startGateway(bank);
    for (const [method, status] of [
      ['GET', 404],
      ['PATCH', 405],
      ['DELETE', 405],
    ] as const) {
      expect((await fetch(`${live.url}/sandbox/control`, { method })).status).toBe(status);
    }
    expect((await live.get('/')).text).toContain('data-mode="live"');
  });
});

/**
 * Boxes of the header in CSS pixels, and its lines. Firefox reserves space for the scroll bar, so the page is narrower.
 */
const MEASURE = `(() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const [bar, top, clock] = [box('#sandbox'), box('.top'), box('.clock')];
  const lines = clock.height / parseFloat(getComputedStyle(document.querySelector('.clock')).lineHeight);
  return {
    isOneLine: Math.round(lines) === 1 && bar.height < 40,
    gap: Math.round(bar.top + top.top - bar.bottom),
    isCut: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
})()`;

(hasFirefox() ? describe : describe.skip)('the pages in Firefox', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startFirefox();
  });
  afterAll(() => browser.close());

  it('have a bar and a clock on one line, nothing cut off and no error, wide and at 360 px', async () => {
    const page = await browser.newPage();
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    for (const [path, shown] of [
      ['/', '.path'],
      ['/accounts', '.open-account'],
    ] as const) {
      for (const width of [1280, 360]) {
        await page.setViewport({ width, height: 800 });
        await page.goto(`${gateway.url}${path}`);
        await page.waitForSelector(shown);
        await page.waitForSelector('.menu summary');
        expect([path, width, await page.evaluate(MEASURE)]).toEqual([
          path,
          width,
          { isOneLine: true, gap: 0, isCut: false },
        ]);
      }
    }
    expect(errors).toEqual([]);
  });
});
