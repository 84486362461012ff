import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { cleanUp, start } from '../support/sandbox.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

let bank: Sandbox;
let gateway: Gateway;
beforeAll(async () => {
  bank = await start();
  gateway = await startGateway(bank);
});
afterAll(async () => {
  await closeGateways();
  await cleanUp();
});

const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
const addressOf = (name: string) => (name === 'README.md' ? '/docs/guide' : `/docs/guide/${name.replace('.md', '')}`);

describe('the documents of the project are pages of the gateway', () => {
  it.each(names)('%s, with links and pictures that lead somewhere', async (name) => {
    const { status, headers, text } = await gateway.get(addressOf(name));
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toMatch(/<h1 id="[^"]+">/);
    expect(text).not.toMatch(/<script|\sstyle=/);
    for (const [, address = ''] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
      const [path = '', anchor] = address.split('#');
      const target = await gateway.get(path);
      expect([address, target.status]).toEqual([address, 200]);
      if (anchor && path.startsWith('/docs/guide'))
        expect([address, target.text.includes(`id="${anchor}"`)]).toEqual([address, true]);
    }
  });

  it.each(['/docs/guide/none', '/docs/guide/../package.json', '/docs/guide/%2e%2e%2fmain.js', '/docs/none'])(
    'and nothing else: %s',
    async (path) => {
      expect((await gateway.get(path)).json).toMatchObject({ status: 404, code: 'not-found' });
    },
  );
});

it('the API reference describes every route of the OpenAPI document and runs no script', async () => {
  const { text, headers } = await gateway.get('/docs');
  const { paths } = (await gateway.get('/openapi.json')).json as { paths: Record<string, unknown> };
  expect(Object.keys(paths).length).toBeGreaterThan(5);
  for (const path of Object.keys(paths)) expect(text).toContain(`GET ${path}</h2>`);
  expect(text).not.toMatch(/<script|\sstyle=/);
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self' data:;/);
});
