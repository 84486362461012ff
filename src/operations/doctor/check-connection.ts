import { lookup } from 'node:dns/promises';
import { pino } from 'pino';
import type { RedisSettings } from '../../sharing/redis-connection.js';
import type { Clock } from '../../time/clock.js';
import type { Settings } from '../../config/settings.js';
import { toHost } from '../../egress/dial.js';
import type { Egress } from '../../egress/egress.js';
import { describeRoute, goesDirect } from '../../egress/route.js';
import { TIMED_OUT, within } from '../../time/deadline.js';
import { connect, type Handshake } from './connect.js';
import { problemOf, StepFailed, type Findings } from './steps.js';

type Named<T> = readonly (readonly [name: string, value: T])[];

/** The bank's hosts by the name of their facts: one, or two if a separate host issues tokens. */
function urlsOf({ BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl }: Settings): Named<string> {
  if (new URL(baseUrl).host === new URL(authUrl).host) return [['bank', baseUrl]];
  return [
    ['tokens', authUrl],
    ['accounts', baseUrl],
  ];
}

/** Resolves the bank's hosts, or the proxy's, which resolves the bank's. */
export async function checkDns(settings: Settings, { facts }: Findings): Promise<void> {
  for (const [name, url] of urlsOf(settings)) {
    const proxy = goesDirect(settings, url) ? null : settings.EGRESS_PROXY_URL;
    const host = toHost(proxy ?? new URL(url));
    const addresses = await resolve(host, settings.BANK_CONNECT_TIMEOUT_MS);
    facts[name] = proxy ? { proxy: host, addresses } : { host, addresses };
  }
}

/** All addresses of a name, as the runtime's own connections resolve them. @throws StepFailed dns-failed */
async function resolve(host: string, timeoutMs: number): Promise<string[]> {
  const found = await within(lookup(host, { all: true }), timeoutMs).catch((error: NodeJS.ErrnoException) => error);
  if (Array.isArray(found)) return found.map(({ address }) => address);
  const reason = found === TIMED_OUT ? `no answer within ${timeoutMs} ms` : found.code;
  throw new StepFailed({
    code: 'dns-failed',
    owner: 'network',
    problem: `The name ${host} could not be resolved (${reason}).`,
    remedy: `Check the names in BANK_BASE_URL, BANK_AUTH_URL and EGRESS_PROXY_URL. If they are right, ask the network team about the resolver of this machine: getent hosts ${host}`,
  });
}

/** Opens a connection to each host, with the retries of a call. Returns the handshakes, for `checkTls`. @throws GatewayError */
export async function checkRoute(
  egress: Egress,
  settings: Settings,
  { facts }: Findings,
): Promise<Named<Promise<Handshake>>> {
  const handshakes: [string, Promise<Handshake>][] = [];
  for (const [name, url] of urlsOf(settings)) {
    const route = describeRoute(settings, url);
    facts[name] = { route };
    const connection = await connect(egress, url);
    facts[name] = { route, ...connection.route };
    handshakes.push([name, connection.handshake]);
  }
  return handshakes;
}

export async function checkTls(handshakes: Named<Promise<Handshake>>, { facts }: Findings): Promise<void> {
  for (const [name, handshake] of handshakes) {
    const { tls, failure } = await handshake;
    facts[name] = tls;
    if (failure) throw failure;
  }
}

/** Connects to Redis, twice if need be: the time limits are short, and the gateway tries again too. @throws StepFailed */
export async function checkSharing(settings: RedisSettings, clock: Clock, { facts }: Findings): Promise<void> {
  const { protocol, host } = new URL(settings.REDIS_URL.read().trim());
  const { REDIS_KEY_PREFIX: keyPrefix } = settings;
  Object.assign(facts, { server: `${protocol}//${host}`, keyPrefix });
  // the client is loaded only if REDIS_URL is set
  const { RedisConnection } = await import('../../sharing/redis-connection.js');
  const attempt = async () => {
    const connection = new RedisConnection(settings, pino({ level: 'silent' }), clock);
    await connection.connect();
    connection.close();
    return connection.trouble;
  };
  const trouble = (await attempt()) && (await attempt());
  if (trouble === null) return;
  throw new StepFailed(problemOf('sharing-unavailable', `Redis cannot be used: ${trouble}.`));
}
