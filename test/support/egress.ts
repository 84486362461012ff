import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import { pino } from 'pino';
import type { Settings } from '../../src/config/settings.js';
import { Egress } from '../../src/egress/egress.js';
import type { WireRequest } from '../../src/egress/wire-client.js';
import { GatewayError } from '../../src/errors/gateway-error.js';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import { onClose } from './closing.js';
import type { PretendBank } from './pretend-bank.js';
import { until } from './until.js';
import { Activity } from '../../src/telemetry/activity.js';
import { Clock } from '../../src/time/clock.js';

export interface ClientIdentity {
  readonly key: string;
  readonly cert: string;
  readonly ca: string | null;
}

/** The options that the gateway would pass to egress for this bank. */
export function identityFor({ files }: PretendBank): ClientIdentity {
  const { keyPem, certificatePems } = openPfx(readFileSync(files.pfx), readFileSync(files.passcode, 'utf8'));
  return { key: keyPem, cert: certificatePems.join('\n'), ca: readFileSync(files.ca, 'utf8') };
}

/** An egress with deadlines that no successful call reaches. Log lines of all levels go to `lines`. */
export function createEgress(
  tls: ClientIdentity,
  change: Partial<Settings> = {},
  lines: string[] = [],
  activity = new Activity(),
  clock = new Clock(),
): Egress {
  const settings = {
    BANK_TLS_MAX_VERSION: '1.3',
    BANK_CONNECT_TIMEOUT_MS: 20_000,
    BANK_REQUEST_TIMEOUT_MS: 30_000,
    BANK_MAX_CONCURRENT_REQUESTS: 6,
    BANK_MAX_RESPONSE_BYTES: 33_554_432,
    EGRESS_PROXY_URL: null,
    EGRESS_NO_PROXY: '',
    ...change,
  } as Settings;
  const { EGRESS_PROXY_CA_FILE: proxyCaFile } = settings;
  const egress = new Egress(tls, proxyCaFile ? readFileSync(proxyCaFile, 'utf8') : null, {
    settings,
    clock,
    logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
    activity,
  });
  onClose(async () => egress.retire());
  return egress;
}

/** The agent that keeps the connections to `baseUrl`. */
export const agentOf = (egress: Egress, baseUrl: string): Promise<Agent> =>
  egress.reach(baseUrl, '', (agent) => Promise.resolve(agent as Agent));

/** A call for the account list. */
export function accountsAt(baseUrl: string, change: Partial<WireRequest> = {}): WireRequest {
  const headers = { Accept: 'application/json', Authorization: 'Bearer secret-token' };
  return { target: 'accounts', baseUrl, path: '/api/v1/accounts', headers, ...change };
}

/** The error of a call. Fails the test if the call succeeds or leaves a connection, or if the error has a secret. */
export async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const before = openSockets();
  const error: unknown = await call.then(
    (value) => new Error(`no failure but ${JSON.stringify(value).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw error;
  const shown = [error.detail, error.message, String(error.stack), String(error.cause), JSON.stringify(error)].join(
    ' ',
  );
  if (/secret|BEGIN|Basic |Bearer /.test(shown)) throw new Error(`a secret in ${shown}`);
  await expectSocketsLeft(before);
  return error;
}

/** TCP connections of this process, client and server side. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length;
}

/** Waits until at most this many connections remain. */
export async function expectSocketsLeft(allowed: number): Promise<void> {
  await until(() => openSockets() <= allowed);
}
