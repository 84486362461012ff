import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';
import { readDocument } from '../support/documents.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { rawCall } from '../support/raw-connection.js';
import { start } from '../support/sandbox.js';

const page = readDocument('docs/reverse-proxies.md');

let gateway: Gateway;
/** Its bank is away, and it has read nothing. */
let notReady: Gateway;
beforeAll(async () => {
  const sandbox = await start();
  gateway = await startGateway(sandbox);
  await gateway.get('/api/v1/accounts');
  const nowhere = 'https://127.0.0.1:1';
  notReady = await startGateway({ ...sandbox, url: nowhere, authUrl: nowhere });
});

/** The status of what haproxy sends for these lines. */
const statusOf = async (lines: readonly string[], { port } = gateway) =>
  (await rawCall(port, [...lines, '', ''].join('\r\n'))).status;

describe('the probe of a load balancer, as docs/reverse-proxies.md has it for haproxy', () => {
  it('by http-check send is answered 200', async () => {
    const [, method, path, version, host] =
      /http-check send meth (\S+) uri (\S+) ver (\S+) hdr Host (\S+)/.exec(page) ?? [];
    expect(host).toBeDefined();
    expect(await statusOf([`${method} ${path} ${version}`, `Host: ${host}`])).toBe(200);
  });

  it('by the short form, without Host over HTTP/1.0, is answered 200', async () => {
    const [, method, path] = /`option httpchk (\S+) (\S+)` works/.exec(page) ?? [];
    expect(await statusOf([`${method} ${path} HTTP/1.0`])).toBe(200);
  });

  it('the negative case: the bare form is answered 400, as the page says', async () => {
    expect(page).toMatch(/sends `OPTIONS \/` over HTTP\/1\.0 without a\s`Host`, which is answered 400/);
    expect(await statusOf(['OPTIONS / HTTP/1.0'])).toBe(400);
  });

  it('the negative case: GET shows that a gateway is not ready, OPTIONS does not, as the page says', async () => {
    expect(await statusOf(['GET /health/ready HTTP/1.0'], notReady)).toBe(503);
    expect(await statusOf(['OPTIONS /health/ready HTTP/1.0'], notReady)).toBe(204);
  });
});

const root = join(import.meta.dirname, '../..');

it.each([
  ['config/bank.env.example', false],
  ['config/sandbox.env.example', true],
])('%s lacks nothing once the files it names are there', (path, sandbox) => {
  const read = () =>
    readSettings(parseEnv(readFileSync(join(root, path), 'utf8')) as Record<string, string>, { sandbox });
  const errors: string[] = [];
  try {
    read();
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    errors.push(...error.errors.map(({ variable, problem }) => `${variable} ${problem}`));
  }
  expect(errors.filter((error) => !error.includes('does not exist'))).toEqual([]);
});
