import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { expect } from '@jest/globals';
import { DOCUMENT_SCHEMAS } from '../../src/list/document-schemas.js';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import { problemSchema } from '../../src/errors/problem-document.js';
import { PROBLEMS } from '../../src/errors/problem-table.js';
import { countOpenFiles } from './closing.js';
import type { Answer } from './call.js';
import type { Gateway } from './gateway.js';
import type { PretendBank } from './pretend-bank.js';
import { PLANTED } from './sample-accounts.js';
import { coded, itemsOf, readDocument, under } from './documents.js';
import { until } from './until.js';

/**
 * Extra time beyond REQUEST_DEADLINE_MS that a call may take on a busy machine. Less than any other limit that would
 * end the call.
 */
const GRACE_MS = 15_000;
/** Asserts that a response is as documented: the result of a query, or a consistent problem document. */
export function expectDocumented(answer: Answer): void {
  expect(faultOf(answer)).toBeNull();
  if (answer.status !== 200) return;
  const [name = ''] = Object.keys(answer.json as object);
  const schema = Object.values(DOCUMENT_SCHEMAS).find(({ shape }) => name in shape);
  expect(schema?.strict().safeParse(answer.json).error).toBeUndefined();
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
}

/**
 * The reason why the head of a response is not as documented, or an error not a consistent problem document, or
 * `internal-error`; else null.
 */
export function faultOf({ status, headers, text }: Answer): string | null {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(String(headers['x-request-id'] ?? ''))) return 'no request id';
  if (headers['x-content-type-options'] !== 'nosniff') return 'no security headers';
  if (status < 400) return null;
  if (headers['content-type'] !== 'application/problem+json; charset=utf-8')
    return `content-type ${headers['content-type']}`;
  const { data: problem, error } = problemSchema.strict().safeParse(JSON.parse(text));
  if (error) return error.message;
  const { code } = problem;
  if (code === 'internal-error') return 'an internal error';
  const statuses: readonly (number | null)[] = code === 'request-too-large' ? [413, 414, 431] : [PROBLEMS[code].status];
  if (problem.status !== status || !statuses.includes(status)) return `status ${status} for ${code}`;
  if (problem.type !== `/problems/${code}` || problem.title !== PROBLEMS[code].title)
    return `another title for ${code}`;
  if (problem.requestId !== headers['x-request-id']) return 'another id in the body';
  if (problem.detail === '' || problem.instance.includes('?')) return 'no detail, or an instance with its query';
  const retryAfter = Number(headers['retry-after'] ?? (status === 503 ? 0 : 1));
  return retryAfter >= 1 && retryAfter <= 300 ? null : `Retry-After ${headers['retry-after']}`;
}

/** Calls for accounts. Asserts that the response is documented and within the deadline. */
export async function askInTime(gateway: Gateway, path = '/api/v1/accounts', headers?: Record<string, string>) {
  const started = performance.now();
  const answer = await gateway.get(path, headers);
  expect(performance.now() - started).toBeLessThan(gateway.settings.REQUEST_DEADLINE_MS + GRACE_MS);
  expectDocumented(answer);
  return answer;
}

/** Texts that must never appear outside of a response to a caller: secrets, tokens, and account data. */
export function secretsOf(bank: Pick<PretendBank, 'files' | 'tokens'>): string[] {
  const read = (file: string) => readFileSync(file, 'utf8');
  const [username, password, passcode] = [bank.files.username, bank.files.password, bank.files.passcode].map(read);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const keyLine = lineOfKey(readFileSync(bank.files.pfx), passcode ?? '');
  return [password ?? '', passcode ?? '', basic, keyLine, ...bank.tokens, ...Object.values(PLANTED)];
}

const keyLines = new Map<string, string>();

/** A line of the private key in this PFX. The PFX is opened once. */
function lineOfKey(pfx: Buffer, passcode: string): string {
  const known = keyLines.get(pfx.toString('latin1'));
  if (known !== undefined) return known;
  const line = openPfx(pfx, passcode).keyPem.split('\n')[3]?.trim() ?? '';
  expect(line.length).toBeGreaterThan(40);
  keyLines.set(pfx.toString('latin1'), line);
  return line;
}

export function expectNoSecret(text: string, secrets: readonly string[]): void {
  expect(secrets.filter(({ length }) => length <= 5)).toEqual([]);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

/** The fields of each event in docs/logs.md. An event that names another one has its fields too. */
function documentedFields(): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>();
  for (const { names, rest } of itemsOf(under(readDocument('docs/logs.md'), 'Events'))) {
    const words = coded(rest);
    const all = new Set(words.flatMap((word) => [word, ...(fields.get(word) ?? [])]));
    for (const name of names) fields.set(name, all);
  }
  return fields;
}

const EVERY_LINE = new Set(['time', 'level', 'msg', 'event', 'owner', 'err']);

/** The fields of log lines that docs/logs.md does not list. */
function undocumentedFields(lines: readonly string[]): string[] {
  const documented = documentedFields();
  return lines.flatMap((line) => {
    const parsed = JSON.parse(line) as { event?: string };
    const fields = documented.get(parsed.event ?? '');
    return Object.keys(parsed).filter((field) => !EVERY_LINE.has(field) && !fields?.has(field));
  });
}

/**
 * Asserts what must hold after every failure (test/README.md#the-bank), except for the last of these conditions, which
 * askInTime asserts. Stops the gateway.
 */
export async function expectCommonConditions(
  bank: PretendBank,
  gateway: Gateway,
  answers: readonly Answer[],
): Promise<void> {
  const secrets = secretsOf(bank);
  expectNoSecret((await gateway.get('/health')).text, secrets);
  expectNoSecret(gateway.lines.join(''), secrets);
  expect(undocumentedFields(gateway.lines)).toEqual([]);
  for (const answer of answers) {
    if (answer.status !== 200) expectNoSecret(answer.text, secrets);
    expectNoSecret(JSON.stringify(answer.headers), secrets);
  }
  expect(bank.most.token).toBeLessThanOrEqual(1);
  expect(gateway.events('request.failed')).toEqual([]);
  expect(answers.filter(({ status }) => status === 500)).toEqual([]);
  expect((await gateway.get('/health/live')).status).toBe(200);
  await until(() => bank.sockets.size <= gateway.settings.BANK_MAX_CONCURRENT_REQUESTS);
  await until(async () => (await connectionsOf(gateway)) === 0);
  await gateway.close();
  await until(() => bank.sockets.size === 0);
  await until(() => countOpenFiles() <= gateway.filesBefore);
}

/** Open connections from callers. */
export function connectionsOf(gateway: Gateway): Promise<number> {
  const server = gateway.app.getHttpServer() as Server;
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}
