import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { read, ROOT } from '../support/documents.js';
import { prepareGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { publicNames, type ApiNames } from './public-names.js';

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

const served = new Set<string>();
let api: ApiNames;
beforeAll(async () => {
  const bank = await start();
  const prepared = await prepareGateway(bank, {}, undefined, bank.control);
  const fastify = prepared.app.getHttpAdapter().getInstance() as FastifyInstance;
  fastify.addHook('onRoute', ({ method, url }) => void ([method].flat().includes('GET') && served.add(url)));
  const gateway = await prepared.listen();
  api = (await gateway.get('/openapi.json')).json as ApiNames;
});

describe('a new route', () => {
  it('is in the OpenAPI document, or listed here as one that no program builds on', () => {
    const described = Object.keys(api.paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
    expect([...served].toSorted()).toEqual([...described, ...NOT_IN_THE_API].toSorted());
  });

  it('is called by a test', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.e2e-spec.ts') && !name.startsWith('docs'))
      .map((name) => read(join('test', name)))
      .join('');
    const untested = (paths: readonly string[]) => paths.filter((path) => !tests.includes(path.replace(/\{.*/, '')));
    expect(untested(Object.keys(api.paths))).toEqual([]);
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
    expect(forgotten(publicNames(api))).toEqual([]);
  });

  it('the negative case: one that is missing there is found', () => {
    expect(forgotten([...released.names.slice(1), 'ALLOWED_NONE'])).toEqual(['ALLOWED_NONE', released.names[0]]);
  });
});
