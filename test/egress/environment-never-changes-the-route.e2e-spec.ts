import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { startPretendBank } from '../support/pretend-bank.js';
import { temporaryDirectory } from '../support/closing.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { identityFor } from '../support/egress.js';

const ROOT = join(import.meta.dirname, '../..');
const LOADER = join(ROOT, 'test/support/load-typescript.js');

/** Runs the egress of src in a process of its own, which has this environment from the start. */
const SCRIPT = `
const { settings, tls, url } = JSON.parse(process.argv[2]);
const { Egress } = await import(process.argv[3]);
const egress = new Egress({ ...settings, EGRESS_PROXY_URL: settings.EGRESS_PROXY_URL && new URL(settings.EGRESS_PROXY_URL) }, tls, { logger: { debug() {} }, activity: { emit() {} }, clock: { now: () => ({ wall: Date.now(), monotonic: 0 }) } });
const answer = await egress.get({ target: 'accounts', baseUrl: url, path: '/api/v1/accounts', headers: {} });
console.log(answer.status);
egress.retire();
`;

async function runWith(env: Record<string, string>, settings: object, tls: object, url: string) {
  const script = join(temporaryDirectory(), 'run.mjs');
  writeFileSync(script, SCRIPT);
  const all = {
    BANK_TLS_MAX_VERSION: '1.3',
    BANK_CONNECT_TIMEOUT_MS: 1000,
    BANK_REQUEST_TIMEOUT_MS: 3000,
    BANK_MAX_CONCURRENT_REQUESTS: 6,
    BANK_MAX_RESPONSE_BYTES: 1e6,
    EGRESS_PROXY_URL: null,
    EGRESS_NO_PROXY: '',
    EGRESS_PROXY_CA_FILE: undefined,
    EGRESS_LOCAL_ADDRESS: undefined,
    ...settings,
  };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', LOADER, script, JSON.stringify({ settings: all, tls, url }), join(ROOT, 'src/egress/egress.ts')],
    { env: { PATH: process.env['PATH'] ?? '', ...env } },
  );
  return { status: stdout.trim(), stderr };
}

function proxyVariables(url: URL): Record<string, string> {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
  return Object.fromEntries(['npm_config_https_proxy', ...names].map((name) => [name, url.href]));
}

test('direct stays direct', async () => {
  const bank = await startPretendBank();
  const trap = await startConnectProxy();
  for (const native of [{}, { NODE_USE_ENV_PROXY: '1' }, { NODE_OPTIONS: '--use-env-proxy' }]) {
    const env = { ...proxyVariables(trap.url), ...native };
    expect(await runWith(env, {}, identityFor(bank), bank.url)).toMatchObject({ status: '200' });
  }
  expect(trap.accepted).toBe(0);
  expect(bank.requests).toHaveLength(3);
});

test('the configured proxy stays the configured proxy, whatever NO_PROXY says', async () => {
  const bank = await startPretendBank();
  const trap = await startConnectProxy();
  const proxy = await startConnectProxy();
  const env = { ...proxyVariables(trap.url), NO_PROXY: '*', no_proxy: '*', NODE_USE_ENV_PROXY: '1' };
  const run = await runWith(env, { EGRESS_PROXY_URL: proxy.url.href }, identityFor(bank), bank.url);
  expect(run).toMatchObject({ status: '200' });
  expect(trap.accepted).toBe(0);
  expect(proxy.heads).toHaveLength(1);
});

test('debug output of the libraries holds no credentials', async () => {
  const bank = await startPretendBank();
  const proxy = await startConnectProxy();
  proxy.url.username = 'robot';
  proxy.url.password = 'secret-proxy-password';
  const run = await runWith({ DEBUG: '*' }, { EGRESS_PROXY_URL: proxy.url.href }, identityFor(bank), bank.url);
  expect(run).toMatchObject({ status: '200' });
  expect(run.stderr).toContain('https-proxy-agent');
  expect(run.stderr).not.toContain('secret-proxy-password');
  expect(run.stderr).not.toContain(Buffer.from('robot:secret-proxy-password').toString('base64'));
});
