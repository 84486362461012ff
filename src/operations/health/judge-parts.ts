import type { AccessTokenProvider } from '../../auth/access-token-provider.js';
import type { IdentityHolder } from '../../auth/identity-holder.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { EXPIRING_UNDER_DAYS } from '../../config/expiry-notice.js';
import { PROBLEMS, type AnyCode } from '../../errors/problem-table.js';
import type { SnapshotCache } from '../../snapshot/snapshot-cache.js';

export type PartStatus = 'up' | 'degraded' | 'down' | 'unknown';

/** One component of /health; an unhealthy one has the problem. */
export type Part = { readonly status: PartStatus } & Partial<Problem>;

interface Problem {
  readonly code: AnyCode;
  readonly owner: GatewayError['owner'];
  readonly detail: string;
  readonly remedy: string;
}

/** Facts from which the health of the path to the bank is judged, at one moment. */
export interface PathFacts {
  readonly ready: boolean;
  /** True if the bank has answered at least one call of this process. */
  readonly everAnswered: boolean;
  readonly certificate: Pick<ReturnType<IdentityHolder['status']>, 'unusable' | 'refused' | 'notAfter' | 'daysLeft'>;
  readonly token: Pick<ReturnType<AccessTokenProvider['status']>, 'state' | 'error'>;
  /** The snapshot, and with it the account list. */
  readonly snapshot: Pick<
    ReturnType<SnapshotCache['status']>,
    'error' | 'slow' | 'asOf' | 'restored' | 'expiresAt' | 'servable' | 'stale' | 'emptied'
  >;
}

/** The hops to the bank, in order. A hop that was not tried because an earlier one fails is `unknown`. */
export function judgePath(facts: PathFacts) {
  return {
    certificate: judgeCertificate(facts),
    egress: judgeEgress(facts),
    token: judgeToken(facts),
    bank: judgeBank(facts),
    snapshot: judgeSnapshot(facts),
  };
}

const UP: Part = { status: 'up' };
const UNKNOWN: Part = { status: 'unknown' };

/** The error because of which there is no usable token, or null. */
const tokenError = ({ token: { state, error } }: PathFacts) => (state === 'usable' ? null : error);

function judgeCertificate({ certificate: { unusable, refused, notAfter, daysLeft } }: PathFacts): Part {
  if (unusable !== null) return down('certificate-unusable', unusable);
  if (refused !== null) {
    const detail = `New certificate or credential files were refused, the old ones stay: ${refused.detail}`;
    return degraded(refused.code, detail);
  }
  if (daysLeft >= EXPIRING_UNDER_DAYS) return UP;
  return degraded('certificate-expiring', `The client certificate expires on ${notAfter}, in ${daysLeft} days.`);
}

function judgeEgress({ ready, certificate, everAnswered, token, snapshot }: PathFacts): Part {
  if (certificate.unusable !== null) return UNKNOWN;
  const error = token.error ?? snapshot.error;
  if (error && isProxyFailure(error)) return failing(error, ready);
  return error || everAnswered ? UP : UNKNOWN;
}

function judgeToken({ certificate, token: { state, error }, everAnswered }: PathFacts): Part {
  const usable = state === 'usable';
  if (certificate.unusable !== null) return UNKNOWN;
  if (error && !usable && isProxyFailure(error)) return UNKNOWN;
  if (error) return failing(error, usable);
  return usable || everAnswered ? UP : UNKNOWN;
}

function judgeBank(facts: PathFacts): Part {
  const { error, slow, asOf, restored } = facts.snapshot;
  if (facts.certificate.unusable !== null || tokenError(facts)) return UNKNOWN;
  if (error) return isProxyFailure(error) ? UNKNOWN : failing(error, facts.ready);
  if (slow) return degraded('bank-slow', 'The refresh takes longer than SNAPSHOT_SOFT_TIMEOUT_MS.');
  return asOf !== null && !restored ? UP : UNKNOWN;
}

function judgeSnapshot(facts: PathFacts): Part {
  const { servable, stale, emptied, expiresAt, error } = facts.snapshot;
  const { unusable } = facts.certificate;
  const cause = unusable === null ? fromError(tokenError(facts) ?? error) : toProblem('certificate-unusable', unusable);
  if (servable) {
    if (stale) {
      const slow = toProblem('bank-slow', 'Apps get the cached snapshot, marked stale, while the refresh runs.');
      return { status: 'degraded', ...(cause ?? slow) };
    }
    return emptied ? degraded('accounts-emptied', 'The bank lists no accounts. It listed some before.') : UP;
  }
  if (facts.ready) return UP;
  if (!cause) return down('bank-slow', 'There is no snapshot to serve yet. The first refresh is running.');
  if (expiresAt === null) return { status: 'down', ...cause };
  const detail = `The cached snapshot expired at ${expiresAt}. Apps get errors since then. ${cause.detail}`;
  return { status: 'down', ...cause, detail };
}

/** An instance that no longer takes calls. */
export const judgeStopping = (): Part => down('stopping', 'This instance is stopping.');

/** The certificate of the internal API. */
export function judgeListener(listener: {
  readonly refused: string | null;
  readonly notAfter: string;
  readonly daysLeft: number;
}): Part {
  if (listener.refused !== null) {
    const remedy = 'Put a valid TLS_CERT_FILE and its TLS_KEY_FILE in place. The gateway loads them within 5 seconds.';
    const detail = `A new certificate of this API was refused, the old one stays: ${listener.refused}`;
    return { ...degraded('certificate-unusable', detail), remedy };
  }
  if (listener.daysLeft >= EXPIRING_UNDER_DAYS) return UP;
  const { notAfter, daysLeft } = listener;
  return degraded('certificate-expiring', `The certificate of this API expires on ${notAfter}, in ${daysLeft} days.`);
}

/** @param reason why Redis cannot be used, in a word; null when it can */
export function judgeSharing(reason: string | null): Part {
  if (reason === null) return UP;
  return degraded('sharing-unavailable', `Redis cannot be used (${reason}). This instance refreshes on its own.`);
}

const isProxyFailure = ({ code }: GatewayError): boolean => code.startsWith('proxy-');

const fromError = (error: GatewayError | null): Problem | null =>
  error && { ...toProblem(error.code, error.detail), owner: error.owner };

/** `works`: the gateway still answers without this hop. */
const failing = (error: GatewayError, works: boolean): Part => ({
  status: works ? 'degraded' : 'down',
  ...fromError(error),
});

const degraded = (code: AnyCode, detail: string): Part => ({ status: 'degraded', ...toProblem(code, detail) });

const down = (code: AnyCode, detail: string): Part => ({ status: 'down', ...toProblem(code, detail) });

function toProblem(code: AnyCode, detail: string): Problem {
  const { owner, remedy } = PROBLEMS[code];
  return { code, owner, detail, remedy };
}
