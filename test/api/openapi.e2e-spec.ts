import { beforeAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { ALL_CODES, PROBLEMS, remedyOf } from '../../src/errors/problem-table.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { RecentHistory } from '../../src/operations/metrics/recent-history.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { type Schema, schemaFaults } from '../support/schema-faults.js';

interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: Schema; required?: boolean }[];
  readonly operationId: string;
  readonly responses: Record<
    string,
    { description: string; headers?: Record<string, unknown>; content?: Record<string, { schema?: Schema }> }
  >;
}
interface Document {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, Schema>;
    readonly headers: Record<string, { schema: Schema }>;
  };
  readonly servers: readonly { url: string }[];
}

let bank: Sandbox;
let gateway: Gateway;
let document: Document;
beforeAll(async () => {
  bank = await start();
  gateway = await startGateway(bank);
  document = (await gateway.get('/openapi.json')).json as Document;
});

function schemaOf(path: string, status: string): Schema {
  const { content = {} } = document.paths[path]?.['get']?.responses[status] ?? {};
  const schema = (content['application/json'] ?? content['application/problem+json'])?.schema;
  if (!schema) throw new Error(`no schema for ${status} of ${path}`);
  return schema;
}
const faults = (value: unknown, schema: Schema) => schemaFaults(value, schema, document.components.schemas);

describe('responses match the OpenAPI document', () => {
  it('every operation has an id, every schema a name, and the document a server address', () => {
    expect(document.openapi).toMatch(/^3\.1/);
    for (const operations of Object.values(document.paths)) expect(Object.keys(operations)).toEqual(['get']);
    const operations = Object.entries(document.paths).map(([path, { get }]) => [path, get?.operationId]);
    for (const [path, id] of operations) expect([path, id]).toEqual([path, expect.stringMatching(/^(get|list)[A-Z]/)]);
    expect(Object.fromEntries(operations)).toMatchObject({
      '/api/v1/accounts': 'listAccounts',
      '/api/v1/accounts/{accountId}': 'getAccount',
      '/api/v1/balances': 'getBalances',
      '/health': 'getHealth',
    });
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Account', 'AccountList', 'Balance', 'Health', 'Problem', 'Snapshot', 'Total']),
    );
    expect(document.servers.map(({ url }) => url)).toEqual(['/']);
  });

  it('routes list their formats and problems, amounts have a format, and parameters have a default', () => {
    const { responses = {}, parameters = [] } = document.paths['/api/v1/accounts']?.['get'] ?? {};
    const formats = responses['200']?.content ?? {};
    expect(Object.keys(formats)).toEqual(['application/json', 'text/csv', 'application/x-ndjson']);
    expect(formats['application/json']?.schema).toEqual({ $ref: '#/components/schemas/AccountList' });
    expect(responses['504']?.description).toBe('`bank-timeout`');
    expect(responses['503']?.headers).toHaveProperty('Retry-After');
    const { Balance } = document.components.schemas;
    expect(Balance?.properties?.['current']).toMatchObject({ format: 'decimal', example: '19423.45' });
    const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    expect(schemas).toMatchObject({ sort: { default: 'name' }, pageSize: { type: 'integer', default: 50 } });
  });

  it('the pattern of a text filter accepts exactly the same texts as the gateway', async () => {
    const { parameters = [] } = document.paths['/api/v1/accounts']?.['get'] ?? {};
    const pattern = new RegExp(parameters.find(({ name }) => name === 'q')?.schema.pattern ?? '(?!)');
    for (const [value, status] of [
      ['a', 200],
      ['é b', 200],
      [' a ', 200],
      ['😀', 200],
      [' ', 400],
      ['\n', 400],
      ['a\u0000', 400],
      ['\u0085b', 400],
      ['\ufffd', 400],
    ] as const) {
      const answer = await gateway.get(`/api/v1/accounts?q=${encodeURIComponent(value)}`);
      expect([value, answer.status, pattern.test(value)]).toEqual([value, status, status === 200]);
    }
  });

  it('responses have the documented headers, and each matches its schema', async () => {
    const id = (await gateway.get('/api/v1/accounts?pageSize=1')).json.accounts[0].id as string;
    for (const [template, { get }] of Object.entries(document.paths)) {
      const path = template.replace('{accountId}', id).replace('{code}', 'bank-timeout');
      const { status, headers } = await gateway.head(path);
      const described = Object.keys(get?.responses[status]?.headers ?? {});
      const fromSnapshot = path.startsWith('/api/v1/');
      const required = ['X-Request-Id', fromSnapshot ? 'Snapshot-As-Of' : 'Cache-Control'];
      expect({ path, described }).toEqual({ path, described: expect.arrayContaining(required) });
      const notModified = '304' in (get?.responses ?? {});
      expect({ path, notModified }).toEqual({ path, notModified: fromSnapshot });
      for (const name of described) {
        const { schema } = document.components.headers[name] as { schema: Schema };
        const text = headers[name.toLowerCase()];
        const value = schema.type === 'integer' ? Number(text) : text;
        expect({ path, name, faults: faults(value, schema) }).toEqual({ path, name, faults: [] });
      }
    }
  });

  it('/health matches its schema when ready and when not, and so do the probes', async () => {
    for (const path of ['/health', '/health/ready', '/health/live']) {
      expect(faults((await gateway.get(path)).json, schemaOf(path, '200'))).toEqual([]);
    }
    const other = await startGateway(bank, { BANK_PASSWORD_FILE: '', BANK_PASSWORD: 'wrong' });
    for (const path of ['/health', '/health/ready']) {
      const { status, json: body } = await other.get(path);
      expect([status, faults(body, schemaOf(path, '503'))]).toEqual([503, []]);
    }
    const broken = (await other.get('/health')).json;
    broken.details.token.owner = 'nobody';
    expect(faults(broken, schemaOf('/health', '503'))).not.toEqual([]);
  });

  it('/health/recent matches its schema', async () => {
    gateway.app.get(RecentHistory, { strict: false }).endPoint();
    const { json: recent } = await gateway.get('/health/recent');
    expect(faults(recent, schemaOf('/health/recent', '200'))).toEqual([]);
    expect(recent.points.at(-1)).toMatchObject({ errors: 0, stale: 0 });
  });

  it('/problems is JSON for callers who prefer it, otherwise a page', async () => {
    const accept = { accept: 'application/json' };
    const all = await gateway.get('/problems', accept);
    expect([all.status, all.headers['content-type'], all.headers['vary']]).toEqual([
      200,
      'application/json; charset=utf-8',
      expect.stringMatching(/Accept\b.*Accept-Encoding/),
    ]);
    expect(faults(all.json, schemaOf('/problems', '200'))).toEqual([]);
    expect(all.json.map(({ code }: { code: string }) => code)).toEqual(ALL_CODES);
    const one = await gateway.get('/problems/bank-timeout', accept);
    expect(faults(one.json, schemaOf('/problems/{code}', '200'))).toEqual([]);
    const { status, owner, title, when } = PROBLEMS['bank-timeout'];
    const entry = { code: 'bank-timeout', status, owner, title, when, remedy: remedyOf('bank-timeout') };
    expect(one.json).toMatchObject({ ...entry, heals: true });
    expect([one.json.steps[0], one.json.steps.join()]).toEqual([entry.remedy, expect.not.stringContaining('](')]);
    const forPeople = await gateway.get('/problems/bank-timeout', { accept: 'text/html' });
    expect(forPeople.text).toContain('<code>BANK_REQUEST_TIMEOUT_MS</code>');
    for (const other of ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      expect((await gateway.get('/problems', { accept: other })).headers['content-type']).toContain('text/html');
    }
    expect((await gateway.get('/problems', { accept: 'image/png' })).json).toMatchObject({ code: 'not-acceptable' });
  });

  it('a list, a page past the end, one account and their problems match their schemas', async () => {
    const { json: list } = await gateway.get('/api/v1/accounts?pageSize=1000');
    expect(list.accounts).toHaveLength(120);
    for (const [path, template, status] of [
      ['/api/v1/accounts?pageSize=1000', '/api/v1/accounts', '200'],
      ['/api/v1/accounts?pageNumber=9', '/api/v1/accounts', '200'],
      [`/api/v1/accounts/${list.accounts[7].id}`, '/api/v1/accounts/{accountId}', '200'],
      ['/api/v1/accounts?pageSize=0', '/api/v1/accounts', '4XX'],
      ['/api/v1/accounts/nobody', '/api/v1/accounts/{accountId}', '4XX'],
    ] as const) {
      expect([path, faults((await gateway.get(path)).json, schemaOf(template, status))]).toEqual([path, []]);
    }
  });

  it('/docs is a page whose links and assets exist', async () => {
    const page = await gateway.get('/docs');
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => String(path));
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts.filter((path) => !path.startsWith('data:'))) {
      const { pathname } = new URL(part, `${gateway.url}/docs`);
      expect([pathname, (await gateway.get(pathname)).status]).toEqual([pathname, 200]);
    }
  });

  it.each(['nothing', 'constructor', '__proto__', '<script>'])('/problems/%s is a 404', async (code) => {
    const { status, json: problem } = await gateway.get(`/problems/${encodeURIComponent(code)}`);
    expect([status, problem.code]).toEqual([404, 'not-found']);
  });
});

it('Redocly accepts the document, and rejects one with a missing part', async () => {
  const lint = async (source: object) => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(source), config, absoluteRef: 'openapi.json' });
    return problems.map(({ ruleId, location: [at] }) => `${ruleId} ${at?.pointer}`);
  };
  expect(await lint(document)).toEqual([]);
  const altered = structuredClone(document) as unknown as { paths: Record<string, { get: object }> };
  altered.paths['/health'] = { get: { ...altered.paths['/health']?.get, summary: undefined } };
  expect(await lint(altered)).toEqual([expect.stringContaining('operation-summary')]);
});
