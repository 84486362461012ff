import { join } from 'node:path';
import { temporaryDirectory } from '../../support/closing.js';
import { startProgram, type Program } from '../../support/program.js';
import { startRedis } from '../../support/redis.js';
import { hasRedis } from '../../support/tools.js';
import { until } from '../../support/until.js';
import type { Fact } from './read-sources.js';

/** Time limit of a wait. */
const LIMIT_MS = 120_000;

/** Settings of the sandbox bank that make a refresh fail or change, each with the event that it causes. */
const CHANGES = [
  [{ failNext: { endpoint: 'accounts', times: 4, with: '503' } }, 'bank.unavailable'],
  [{ accounts: 0 }, 'snapshot.emptied'],
  [{ revokeTokens: true, failNext: { endpoint: 'authorize', times: 4, with: '503' } }, 'token.failed'],
] as const;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: object }[];
  readonly responses: Record<string, { readonly headers?: object; readonly content?: object }>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<string, { readonly get?: Operation }>;
}

/** Collects responses and log lines of a gateway whose sandbox bank is made to fail; with Redis if it is installed. */
export async function readRunning(checkout: string): Promise<Fact[]> {
  const cwd = temporaryDirectory();
  const sharing = hasRedis() ? (await startRedis()).env : {};
  const ports = { PORT: '0', SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };
  const run = (args: string[], env: Record<string, string>) =>
    startProgram({ args, env: { ...env, ...sharing }, cwd, main: join(checkout, 'dist/main.js') });
  const gateway = await run(['serve', '--sandbox'], { ...ports, LOG_LEVEL: 'debug', SNAPSHOT_FRESH_MS: '0' });
  await until(() => gateway.events('snapshot.refreshed').length > 0, LIMIT_MS);
  const url = await gateway.started();
  await provoke(gateway, url);
  const get = (path: string, accept: string) => fetch(url + path, { headers: { Accept: accept } });
  const json = async (path: string) => (await get(path, 'application/json')).json() as Promise<unknown>;
  const problems = (await json('/problems')) as readonly { code: string; status: number | null; owner: string }[];
  const [columns = ''] = (await (await get('/api/v1/accounts', 'text/csv')).text()).split('\r\n');
  const facts: Fact[] = [
    ...openApiFacts((await json('/openapi.json')) as OpenApi),
    ...problems.map(({ code, status, owner }): Fact => [`code ${code}`, `${status ?? '–'} ${owner}`]),
    ...metricsIn(await (await get('/metrics', 'text/plain')).text()),
    ['csv columns', columns],
    ['answer / to Accept: application/json', (await get('/', 'application/json')).headers.get('Content-Type') ?? ''],
  ];
  const [, bank = ''] = /accounts +(https:\S+)/.exec(gateway.stderr()) ?? [];
  const doctor = await run(['doctor', '--json'], {
    BANK_BASE_URL: bank,
    BANK_CA_FILE: '.sandbox/ca.pem',
    BANK_PFX_FILE: '.sandbox/client.pfx',
    BANK_PFX_PASSCODE_FILE: '.sandbox/passcode',
    BANK_USERNAME_FILE: '.sandbox/username',
    BANK_PASSWORD_FILE: '.sandbox/password',
  });
  facts.push(['exit code of doctor', String(await doctor.exit)], ...doctorFacts(doctor.stdout()));
  gateway.child.kill('SIGHUP');
  await until(() => gateway.events('config.reload').length > 0, LIMIT_MS);
  gateway.child.kill('SIGTERM');
  facts.push(['exit code of serve after SIGTERM', String(await gateway.exit)], ...eventsIn(gateway.stdout()));
  const help = await run(['--help'], {});
  const options = (await help.exit) === 0 ? help.stdout().match(/main\.js \w+|--[a-z]+/g) : [];
  return [...facts, ...(options ?? []).map((option): Fact => [`command ${option}`, 'yes'])];
}

async function provoke(gateway: Program, url: string): Promise<void> {
  for (const path of ['balances', 'accounts/none', 'accounts?none=1']) await fetch(`${url}/api/v1/${path}`);
  const control = { method: 'PATCH', headers: { 'Content-Type': 'application/json' } };
  for (const [change, event] of CHANGES) {
    await fetch(`${url}/sandbox/control`, { ...control, body: JSON.stringify(change) });
    await until(async () => {
      await fetch(`${url}/api/v1/accounts`, { headers: { 'Cache-Control': 'no-cache', 'X-Client-Name': 'compare' } });
      return gateway.events(event).length > 0;
    }, LIMIT_MS);
    await fetch(`${url}/sandbox/control`, { method: 'DELETE' });
  }
}

/** Routes, parameters, responses and their headers. The types of the client cover the schemas. */
const openApiFacts = ({ openapi, paths }: OpenApi): Fact[] => [
  ['openapi version', openapi],
  ...Object.entries(paths).flatMap(([path, { get }]): Fact[] => [
    [`route ${path}`, get?.operationId ?? ''],
    ...(get?.parameters ?? []).map(({ in: place, name, schema }): Fact => [
      `route ${path} ${place} ${name}`,
      JSON.stringify({ ...schema, description: undefined }),
    ]),
    ...Object.entries(get?.responses ?? {}).map(([status, { content = {}, headers = {} }]): Fact => [
      `route ${path} ${status}`,
      [...Object.keys(content), ...Object.keys(headers)].join(', '),
    ]),
  ]),
];

/** Names, types and labels in the Prometheus text format. */
const metricsIn = (text: string): Fact[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = '', type = '']): Fact[] => {
    const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket)?\\{(.*)\\} `, 'gm'))];
    const labels = samples.flatMap(([, given = '']) => [...given.matchAll(/(\w+)="/g)].map(([, label]) => label));
    return [[`metric ${name}`, type], ...labels.map((label): Fact => [`metric ${name} ${label}`, 'yes'])];
  });

/** The fields of the log lines. */
const eventsIn = (log: string): Fact[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { event: string })
    .flatMap(({ event, ...fields }) => Object.keys(fields).map((name): Fact => [`event ${event} ${name}`, 'yes']));

/** The steps of the doctor report, each with the names of its facts. */
const doctorFacts = (report: string): Fact[] =>
  (JSON.parse(report) as { steps: { name: string; facts: object }[] }).steps.flatMap(({ name, facts }) => [
    [`doctor ${name}`, 'yes'],
    ...Object.keys(facts).map((fact): Fact => [`doctor ${name} ${fact}`, 'yes']),
  ]);
