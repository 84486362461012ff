import type { Account } from '../src/generated/types.gen.js';
import type { FailOptions, FakeCall, FakeGateway, FakeGatewayOptions, Scene } from '../src/testing.js';
import { matchesTag, toCacheHeaders } from '../../src/accounts/cache-headers.js';
import { chooseFormat, filtersSchema, listQuerySchema, noQuerySchema } from '../../src/accounts/list-query.js';
import { readCacheDirectives } from '../../src/cache/freshness.js';
import { GatewayError, toGatewayError } from '../../src/errors/gateway-error.js';
import { toProblemDocument, toProblemHeaders } from '../../src/errors/problem-document.js';
import { PROBLEMS, type ProblemCode } from '../../src/errors/problem-table.js';
import { accountSchema } from '../../src/list/account-schema.js';
import { findProperties, toRows, type Export, type Query } from '../../src/list/queries.js';
import { assertAcceptsJson } from '../../src/representation/negotiation.js';
import { readInput } from '../../src/representation/read-query.js';
import { SECURITY_HEADERS } from '../../src/representation/security-headers.js';
import { digest } from './digest.js';
import { assertAmounts, DEFAULT_ACCOUNTS } from './fake-account.js';
import { FakeBank, LIMITS, type Served } from './fake-bank.js';
import { FakeClock } from './fake-clock.js';
import { toPath } from './paths.js';

const MAX_ACCOUNTS = 1000;
const SCENES: readonly Scene[] = ['well', 'slow', 'down', 'empty', 'moving', 'gone'];
type Endpoint = NonNullable<FailOptions['endpoint']>;

interface QueuedFailure {
  readonly code: ProblemCode;
  readonly endpoint: Endpoint | undefined;
  readonly retryAfterMs: number | undefined;
  left: number;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly search: URLSearchParams;
  readonly headers: Headers;
  readonly signal: AbortSignal | null;
}

interface Route {
  /** Its group is the id of an account. */
  readonly path: RegExp;
  /** @throws GatewayError invalid-request, not-acceptable */
  toQuery(input: object, accept: string | undefined, id: string): Query | Export;
}

/** The routes of /api/v1. */
const ROUTES: Readonly<Record<Endpoint, Route>> = {
  accounts: {
    path: /^accounts$/,
    toQuery(input, accept) {
      const query = readInput(input, listQuerySchema);
      return query[query.format ?? chooseFormat(accept)];
    },
  },
  account: {
    path: /^accounts\/([^/]+)$/,
    toQuery(input, accept, id) {
      readInput(input, noQuerySchema);
      assertAcceptsJson(accept);
      return { kind: 'account', id: decodeURIComponent(id) };
    },
  },
  balances: {
    path: /^balances$/,
    toQuery(input, accept) {
      const filters = readInput(input, filtersSchema);
      assertAcceptsJson(accept);
      return { kind: 'totals', filters };
    },
  },
};
const ENDPOINTS = Object.keys(ROUTES) as readonly Endpoint[];

const ALLOW = { allow: 'GET, HEAD, OPTIONS' };

type Send = (status: number, headers: object, body: string | null) => Response;

export function createFakeGateway({ accounts = DEFAULT_ACCOUNTS, now }: FakeGatewayOptions = {}): FakeGateway {
  const clock = new FakeClock(now === undefined ? null : toTime(now));
  const copies = toCopies(accounts);
  const calls: FakeCall[] = [];
  let bank = new FakeBank(copies, clock);
  let queue: QueuedFailure[] = [];
  let lastId = 0;

  async function answer(asked: Asked): Promise<Response> {
    lastId += 1;
    const ownId = /^[\w.-]{1,64}$/.exec(asked.headers.get('x-request-id') ?? '')?.[0];
    const requestId = ownId ?? `00000000-0000-4000-8000-${String(lastId).padStart(12, '0')}`;
    const headers = { ...SECURITY_HEADERS, vary: 'Accept, Accept-Encoding, Origin', 'x-request-id': requestId };
    const send: Send = (status, more, body) =>
      new Response(asked.method === 'HEAD' ? null : body, {
        status,
        headers: { ...headers, ...more },
      });
    try {
      return await read(asked, send);
    } catch (thrown) {
      asked.signal?.throwIfAborted();
      const error = toGatewayError(thrown);
      if (error.code === 'internal-error' && error.cause !== undefined) throw thrown;
      return send(
        error.status,
        toProblemHeaders(error),
        JSON.stringify(toProblemDocument(error, asked.path, requestId)),
      );
    }
  }

  async function read(asked: Asked, send: Send): Promise<Response> {
    const { method, path, search, headers, signal } = asked;
    const [, below = ''] = /^\/api\/v1\/(.*)$/.exec(path) ?? [];
    const endpoint = ENDPOINTS.find((each) => ROUTES[each].path.test(below)) ?? null;
    const queued = takeFailure(endpoint);
    const code = queued?.code;
    if (queued && code !== 'method-not-allowed' && code !== 'account-not-found') throw toError(queued);
    if (method === 'OPTIONS') return send(204, ALLOW, null);
    if ((method !== 'GET' && method !== 'HEAD') || code === 'method-not-allowed') {
      const detail = `${method} is not allowed here, only ${ALLOW.allow}.`;
      throw new GatewayError('method-not-allowed', detail, { headers: ALLOW });
    }
    if (!isReadable(path)) throw new GatewayError('malformed-request', 'The URL of the request is malformed.');
    if (endpoint === null) throw new GatewayError('not-found', 'No route has this path.');
    const route = ROUTES[endpoint];
    const [, id = ''] = route.path.exec(below) ?? [];
    const query = route.toQuery(toInput(search), headers.get('accept') ?? undefined, id);
    const served = await bank.serve(readCacheDirectives(headers.get('cache-control') ?? undefined), signal);
    const facts = toFacts(served);
    const about = toCacheHeaders({ ...served, snapshot: facts }, served.ageMs, LIMITS);
    const reply = (type: string, body: string, tagged: string, more = {}) => {
      const etag = `W/"${digest(tagged)}"`;
      if (matchesTag(headers.get('if-none-match') ?? undefined, etag)) return send(304, { ...about, etag }, null);
      return send(200, { ...about, etag, 'content-type': `${type}; charset=utf-8`, ...more }, body);
    };
    const notFound = new GatewayError('account-not-found', 'The current snapshot has no account with this id.', {
      headers: { ...about, 'cache-control': 'no-store' },
    });
    if (code === 'account-not-found') throw notFound;
    if (query.kind === 'csv' || query.kind === 'ndjson') {
      const text = [...toRows(served.list, query, facts.asOf)].join('');
      const type = query.kind === 'csv' ? 'text/csv' : 'application/x-ndjson';
      const file = { 'content-disposition': `attachment; filename="accounts.${query.kind}"` };
      return reply(type, text, text, file);
    }
    const properties = finish(findProperties(served.list, query));
    if (properties === null) throw notFound;
    const { stale, complete } = facts;
    const body = JSON.stringify({ ...properties, snapshot: facts });
    return reply('application/json', body, JSON.stringify([properties, stale, complete]));
  }

  /** The failure that `fail` set for the next call of this endpoint. */
  function takeFailure(endpoint: Endpoint | null): QueuedFailure | undefined {
    const queued = queue.find((each) => each.endpoint === undefined || each.endpoint === endpoint);
    if (!queued) return undefined;
    queued.left -= 1;
    if (queued.left <= 0) queue = queue.filter((each) => each !== queued);
    return queued;
  }

  const fake: FakeGateway = {
    async fetch(input, init) {
      const asked = toAsked(input, init);
      asked.signal?.throwIfAborted();
      const call = {
        at: new Date(clock.wall).toISOString(),
        method: asked.method,
        path: asked.path,
        query: Object.fromEntries(asked.search),
        clientName: asked.headers.get('x-client-name'),
        status: 0,
      };
      calls.push(call);
      // as Chromium reports it
      if (bank.scene === 'gone') throw new TypeError('Failed to fetch');
      const response = await answer(asked);
      call.status = response.status;
      return response;
    },
    set(scene) {
      if (!SCENES.includes(scene)) throw new TypeError(`scene must be one of ${SCENES.join(', ')}: ${scene}`);
      bank.set(scene);
    },
    fail(code, { endpoint, times = 1, retryAfterMs } = {}) {
      if (PROBLEMS[code]?.status == null) throw new TypeError(`code must be one that an answer can have: ${code}`);
      if (endpoint !== undefined && !ENDPOINTS.includes(endpoint)) {
        throw new TypeError(`endpoint must be one of ${ENDPOINTS.join(', ')}: ${endpoint}`);
      }
      if (!(times >= 1)) throw new TypeError(`times must be a number from 1: ${times}`);
      if (retryAfterMs !== undefined && !(retryAfterMs >= 0)) {
        throw new TypeError(`retryAfterMs must be a number from 0: ${retryAfterMs}`);
      }
      queue.push({ code, endpoint, retryAfterMs, left: times });
    },
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) throw new TypeError(`ms must be a number from 0: ${ms}`);
      clock.advance(ms);
    },
    calls,
    reset() {
      clock.reset();
      bank = new FakeBank(copies, clock);
      queue = [];
      calls.length = 0;
    },
  };
  return fake;
}

function toError({ code, retryAfterMs }: QueuedFailure): GatewayError {
  const { status, when } = PROBLEMS[code];
  return new GatewayError(code, when, {
    // as in a back-off
    retryAfterMs: retryAfterMs ?? (status >= 502 ? 30_000 : undefined),
    errors: code === 'invalid-request' ? [{ name: 'pageSize', reason: 'must be at most 1000' }] : undefined,
  });
}

/** False for a path that the gateway's router cannot decode. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The parameters in the form of the gateway's router: an array for a repeated one. */
function toInput(search: URLSearchParams): object {
  const input = Object.create(null) as Record<string, unknown>;
  for (const name of search.keys()) {
    const [first, ...others] = search.getAll(name);
    input[name] = others.length === 0 ? first : [first, ...others];
  }
  return input;
}

function toFacts({ asOf, stale }: Served) {
  const toIso = (ms: number) => new Date(ms).toISOString();
  return { asOf: toIso(asOf), expiresAt: toIso(asOf + LIMITS.SNAPSHOT_MAX_AGE_MS), stale, complete: true };
}

function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Checked by properties: a Request may come from another realm or a library. */
function toAsked(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Asked {
  const request = typeof input === 'string' || input instanceof URL ? null : input;
  const { location } = globalThis as { location?: { href: string } };
  const url = new URL(
    request?.url ?? String(input),
    location?.href.startsWith('http') ? location.href : 'http://localhost',
  );
  return {
    method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
    path: toPath(url.href) ?? url.pathname,
    search: url.searchParams,
    headers: new Headers((init.headers ?? request?.headers ?? {}) as Record<string, string>),
    signal: init.signal ?? request?.signal ?? null,
  };
}

function toTime(now: NonNullable<FakeGatewayOptions['now']>): number {
  const time = new Date(now).getTime();
  if (Number.isNaN(time)) throw new TypeError(`now must be a time: ${now}`);
  return time;
}

/** @throws TypeError for too many accounts, or one that the gateway could not return */
function toCopies(accounts: readonly Account[]): readonly Account[] {
  if (accounts.length > MAX_ACCOUNTS)
    throw new TypeError(`accounts must be at most ${MAX_ACCOUNTS}: ${accounts.length}`);
  return accounts.map((account, index) => {
    const { success, error } = accountSchema.safeParse(account);
    if (success) {
      account.balances.forEach(assertAmounts);
      return structuredClone(account);
    }
    const { path, message } = error.issues[0] ?? { path: [], message: '' };
    throw new TypeError(`accounts[${index}].${path.join('.')} is wrong: ${message}. Use fakeAccount().`);
  });
}
