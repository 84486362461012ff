import type { GatewayError } from '../../errors/gateway-error.js';
import { EXPIRING_UNDER_DAYS, toDays } from '../../auth/expiry-notice.js';
import { isSkewed } from '../../egress/http-date.js';
import { remedyOf, withOwner, type AnyCode } from '../../errors/problem-table.js';
import type { GatewayFacts } from './gateway-status.js';
import { canAnswer, isReady, tokenError } from './readiness.js';

export type PartStatus = 'up' | 'degraded' | 'down' | 'unknown';

export type Part = { readonly status: PartStatus } & Partial<PartProblem>;

interface PartProblem {
  readonly code: AnyCode;
  readonly owner: GatewayError['owner'];
  readonly detail: string;
  readonly remedy: string;
}

/** Judges the components in their order (docs/troubleshooting.md#health). A hop after a failing one was not tried: `unknown`. */
export function judgeHealth(facts: GatewayFacts) {
  const { stopping, listener } = facts;
  const { redis } = facts.sharing;
  const stop = findStop(facts);
  const ifReached = (hop: number, judge: (facts: GatewayFacts) => Part) =>
    stop && hop > stop.hop ? UNKNOWN : judge(facts);
  const parts = {
    ...(stopping && { instance: down('stopping', 'This instance is stopping.') }),
    certificate: judgeCertificate(facts),
    egress: ifReached(EGRESS, judgeEgress),
    token: ifReached(TOKEN, judgeToken),
    bank: ifReached(BANK, judgeBank),
    snapshot: judgeSnapshot(facts, stop?.cause ?? null),
    ...(listener && { listener: judgeListener(listener) }),
    ...(redis && { sharing: judgeSharing(redis.reason) }),
  };
  const isHealthy = Object.values(parts).every(({ status }) => status === 'up' || status === 'unknown');
  const working = isHealthy ? ('ok' as const) : ('degraded' as const);
  return { status: isReady(facts) ? working : ('error' as const), parts };
}

/** The hops of a call for accounts, in order. */
const [CERTIFICATE, EGRESS, TOKEN, BANK] = [0, 1, 2, 3] as const;

/** The hop at which calls end now, and why; null while nothing stops them. */
function findStop(facts: GatewayFacts): { readonly hop: number; readonly cause: PartProblem } | null {
  const { unusable } = facts.certificate;
  if (unusable !== null) return { hop: CERTIFICATE, cause: toProblem('certificate-unusable', unusable) };
  const lack = tokenError(facts);
  const error = lack ?? facts.snapshot.trouble?.error;
  if (!error) return null;
  const target = lack ? TOKEN : BANK;
  // a proxy keeps the call from its target, not from the token that is still usable
  return { hop: isProxyFailure(error) ? target - 1 : target, cause: fromError(error) };
}

const UP: Part = { status: 'up' };
const UNKNOWN: Part = { status: 'unknown' };

/** True if the bank has responded to this instance, which may also live on the copies of others. */
const everAnswered = ({ bank }: GatewayFacts): boolean => bank.serverCertificateEnds !== null;

function judgeCertificate({ certificate: { unusable, rejected, next, notAfter, daysLeft } }: GatewayFacts): Part {
  if (unusable !== null) return down('certificate-unusable', unusable);
  if (rejected !== null) {
    // without a thumbprint, a file could not be used, perhaps that of the password
    const what = next?.thumbprint
      ? 'The new certificate was rejected; the old one stays in use'
      : 'The changed files cannot be used; the old ones stay in use';
    return degraded(rejected.code, `${what}: ${rejected.detail}`);
  }
  if (daysLeft >= EXPIRING_UNDER_DAYS) return UP;
  return degraded('certificate-expiring', `The client certificate expires on ${notAfter}, in ${toDays(daysLeft)}.`);
}

function judgeEgress(facts: GatewayFacts): Part {
  const errors = [facts.token.trouble, facts.snapshot.trouble].flatMap((trouble) => trouble?.error ?? []);
  const proxyFailure = errors.find(isProxyFailure);
  if (proxyFailure) return failing(proxyFailure, canAnswer(facts));
  return errors.length > 0 || everAnswered(facts) ? UP : UNKNOWN;
}

function judgeToken(facts: GatewayFacts): Part {
  const { state, trouble } = facts.token;
  const usable = state === 'usable';
  if (trouble) return failing(trouble.error, usable);
  const { credentialsRejected: rejected } = facts.certificate;
  if (rejected !== null) {
    return degraded(rejected.code, `The new credentials cannot be used; the old ones stay in use: ${rejected.detail}`);
  }
  if (state === 'requested' && facts.snapshot.slowSince !== null) {
    return degraded('bank-slow', 'The token request takes longer than SNAPSHOT_SOFT_TIMEOUT_MS.');
  }
  // a token that expired while nobody called is renewed by the next call
  return usable || everAnswered(facts) ? UP : UNKNOWN;
}

function judgeBank(facts: GatewayFacts): Part {
  const { trouble, asOf, restored } = facts.snapshot;
  const slow = toSlow(facts);
  if (trouble) return failing(trouble.error, canAnswer(facts));
  if (facts.token.state === 'requested') return UNKNOWN;
  if (slow) {
    const copies = slow.copyAgeMs === null ? '' : ` Copies were up to ${Math.ceil(slow.copyAgeMs / 1000)} s old.`;
    return degraded('bank-slow', `Refreshes take longer than SNAPSHOT_SOFT_TIMEOUT_MS.${copies}`);
  }
  const skewMs = facts.bank.clockSkewMs ?? 0;
  if (isSkewed(skewMs)) return degraded('clock-skewed', describeSkew(skewMs));
  return asOf !== null && !restored ? UP : UNKNOWN;
}

/** A slow bank: since when, and the maximum age of the copies meanwhile; null while it is fast. */
export function toSlow({ bank, snapshot }: Pick<GatewayFacts, 'bank' | 'snapshot'>) {
  const { slowSince, ageMs } = snapshot;
  const { since = slowSince, copyAgeMs = 0 } = bank.slow ?? {};
  if (since === null) return null;
  const now = slowSince === null ? 0 : (ageMs ?? 0);
  return { since, copyAgeMs: Math.max(copyAgeMs, now) || null };
}

/** @param cause why calls fail now */
function judgeSnapshot(facts: GatewayFacts, cause: PartProblem | null): Part {
  const { stale, accounts, emptied, slowSince, expiresAt } = facts.snapshot;
  if (!canAnswer(facts)) {
    const expired = expiresAt === null ? '' : `The cached snapshot expired at ${expiresAt}. `;
    if (cause) return { status: 'down', ...cause, detail: `${expired}${cause.detail}` };
    return slowSince === null
      ? UNKNOWN
      : down('bank-slow', 'There is no snapshot to serve yet. The first refresh is running.');
  }
  if (accounts === 0) {
    const before = emptied ? 'It listed some before.' : 'It has listed none since this process started.';
    return degraded('accounts-emptied', `The bank lists no accounts. ${before}`);
  }
  // without a cause, the failure is over, and the next call triggers a new snapshot
  if (stale && cause) return { status: 'degraded', ...cause };
  if (stale && slowSince !== null) {
    return degraded('bank-slow', 'Apps get the cached snapshot, marked stale, while the refresh runs.');
  }
  const fileFailing = facts.sharing.file?.failing ?? null;
  if (fileFailing === null) return UP;
  const detail = `SNAPSHOT_FILE cannot be written: ${fileFailing}. After a restart, apps may wait for the bank.`;
  return degraded('snapshot-not-stored', detail);
}

/** @param skewMs the bank's clock minus ours */
export function describeSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `The clock of this machine is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the bank's.`;
}

function judgeListener(listener: NonNullable<GatewayFacts['listener']>): Part {
  if (listener.rejected !== null) {
    const detail = `A new certificate of this API was rejected; the old one stays in use: ${listener.rejected}`;
    return degraded('certificate-unusable', detail);
  }
  if (listener.daysLeft >= EXPIRING_UNDER_DAYS) return UP;
  const { notAfter, daysLeft } = listener;
  const when = daysLeft < 0 ? `expired on ${notAfter}` : `expires on ${notAfter}, in ${toDays(daysLeft)}`;
  return degraded('certificate-expiring', `The certificate of this API ${when}.`);
}

/** @param reason why Redis cannot be used, in words; null if it can */
function judgeSharing(reason: string | null): Part {
  if (reason === null) return UP;
  return degraded('sharing-unavailable', `Redis cannot be used: ${reason}. This instance refreshes on its own.`);
}

const isProxyFailure = ({ code }: GatewayError): boolean => code.startsWith('proxy-');

const fromError = ({ code, detail, owner }: GatewayError): PartProblem => ({ ...toProblem(code, detail), owner });

/** `works`: true if the gateway still responds without this component. */
const failing = (error: GatewayError, works: boolean): Part => ({
  status: works ? 'degraded' : 'down',
  ...fromError(error),
});

const degraded = (code: AnyCode, detail: string): Part => ({ status: 'degraded', ...toProblem(code, detail) });

const down = (code: AnyCode, detail: string): Part => ({ status: 'down', ...toProblem(code, detail) });

function toProblem(code: AnyCode, detail: string): PartProblem {
  return { ...withOwner(code), detail, remedy: remedyOf(code) };
}
