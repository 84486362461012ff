import type { GatewayError } from '../problems/gateway-error.js';
import { isKnownCode, PROBLEMS, type AnyCode } from '../problems/problem-table.js';

const EXPIRING_UNDER_DAYS = 30;

export type PartStatus = 'up' | 'degraded' | 'down' | 'unknown';

/** One component of /health; an unhealthy one names the problem before its data. */
export interface Part {
  readonly status: PartStatus;
  readonly problem: Problem | null;
}

interface Problem {
  readonly code: AnyCode;
  readonly owner: GatewayError['owner'];
  readonly detail: string;
  readonly remedy: string;
}

/** Facts from which the health of the path to the bank is judged, at one moment. */
export interface PathFacts {
  readonly ready: boolean;
  readonly certificate: {
    readonly unusable: string | null;
    readonly refused: { readonly code: string; readonly detail: string } | null;
    readonly notAfter: string;
    readonly daysLeft: number;
  };
  readonly token: { readonly usable: boolean; readonly error: GatewayError | null };
  /** The account list. */
  readonly bank: {
    readonly error: GatewayError | null;
    /** True if the running refresh is past the soft timeout. */
    readonly slow: boolean;
    /** True if a refresh has succeeded in this process. */
    readonly tried: boolean;
  };
  readonly snapshot: {
    readonly expiresAt: string | null;
    readonly servable: boolean;
    readonly stale: boolean;
    readonly emptied: boolean;
  };
  /** True if the bank has answered at least one call of this process. */
  readonly everAnswered: boolean;
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

const UP: Part = { status: 'up', problem: null };
const UNKNOWN: Part = { status: 'unknown', problem: null };

function judgeCertificate({ certificate: { unusable, refused, notAfter, daysLeft } }: PathFacts): Part {
  if (unusable !== null) return down('certificate-unusable', unusable);
  if (refused !== null) {
    return degraded(
      isKnownCode(refused.code) ? refused.code : 'certificate-unusable',
      `New certificate or credential files were refused, the old ones stay: ${refused.detail}`,
    );
  }
  if (daysLeft >= EXPIRING_UNDER_DAYS) return UP;
  return degraded('certificate-expiring', `The client certificate expires on ${notAfter}, in ${daysLeft} days.`);
}

function judgeEgress({ ready, certificate, everAnswered, token, bank }: PathFacts): Part {
  if (certificate.unusable !== null) return UNKNOWN;
  const error = token.error ?? bank.error;
  if (error && isProxyFailure(error)) return failing(error, ready);
  return error || everAnswered ? UP : UNKNOWN;
}

function judgeToken({ certificate, token: { usable, error }, everAnswered }: PathFacts): Part {
  if (certificate.unusable !== null) return UNKNOWN;
  if (error && !usable && isProxyFailure(error)) return UNKNOWN;
  if (error) return failing(error, usable);
  return usable || everAnswered ? UP : UNKNOWN;
}

function judgeBank({ ready, certificate, token, bank }: PathFacts): Part {
  if (certificate.unusable !== null || (token.error && !token.usable)) return UNKNOWN;
  if (bank.error) return isProxyFailure(bank.error) ? UNKNOWN : failing(bank.error, ready);
  if (bank.slow) return degraded('bank-slow', 'The refresh takes longer than SNAPSHOT_SOFT_TIMEOUT_MS.');
  return bank.tried ? UP : UNKNOWN;
}

function judgeSnapshot({ ready, certificate, token, bank, snapshot }: PathFacts): Part {
  const { servable, stale, emptied, expiresAt } = snapshot;
  const cause =
    certificate.unusable !== null
      ? toProblem('certificate-unusable', certificate.unusable)
      : fromError((token.usable ? null : token.error) ?? bank.error);
  if (servable) {
    if (stale) {
      const slow = toProblem('bank-slow', 'Apps get the cached snapshot, marked stale, while the refresh runs.');
      return { status: 'degraded', problem: cause ?? slow };
    }
    return emptied ? degraded('accounts-emptied', 'The bank lists no accounts. It listed some before.') : UP;
  }
  if (ready) return UP;
  if (!cause) return down('bank-slow', 'There is no snapshot to serve yet. The first refresh is running.');
  if (expiresAt === null) return { status: 'down', problem: cause };
  const expired = `The cached snapshot expired at ${expiresAt}. Apps get errors since then. ${cause.detail}`;
  return { status: 'down', problem: { ...cause, detail: expired } };
}

/** The certificate of the internal API. */
export function judgeListener(listener: {
  readonly refused: string | null;
  readonly notAfter: string;
  readonly daysLeft: number;
}): Part {
  if (listener.refused !== null) {
    const remedy = 'Put a valid TLS_CERT_FILE and its TLS_KEY_FILE in place. The gateway loads them within 5 seconds.';
    const detail = `A new certificate of this API was refused, the old one stays: ${listener.refused}`;
    return { status: 'degraded', problem: { ...toProblem('certificate-unusable', detail), remedy } };
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

export const STOPPING: Part = down('stopping', 'This instance is stopping.');

const isProxyFailure = ({ code }: GatewayError): boolean => code.startsWith('proxy-');

const fromError = (error: GatewayError | null): Problem | null =>
  error && { ...toProblem(error.code, error.detail), owner: error.owner };

/** `works`: the gateway still answers without this hop. */
const failing = (error: GatewayError, works: boolean): Part => ({
  status: works ? 'degraded' : 'down',
  problem: fromError(error),
});

function degraded(code: AnyCode, detail: string): Part {
  return { status: 'degraded', problem: toProblem(code, detail) };
}

function down(code: AnyCode, detail: string): Part {
  return { status: 'down', problem: toProblem(code, detail) };
}

function toProblem(code: AnyCode, detail: string): Problem {
  const { owner, remedy } = PROBLEMS[code];
  return { code, owner, detail, remedy };
}
