import { isDeepStrictEqual } from 'node:util';
import type { OnApplicationShutdown } from '@nestjs/common';
import pLimit from 'p-limit';
import { RenewedFiles } from '../files/renewed-files.js';
import { FileUnusable } from '../files/small-file.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { daysLeft, ExpiryNotice } from './expiry-notice.js';
import { orAborted } from '../time/deadline.js';
import type { EgressParts } from '../egress/egress.js';
import { BankIdentity } from './bank-identity.js';
import { IdentityLog } from './identity-log.js';
import {
  readCredentials,
  readIdentityMaterial,
  readRoots,
  watchedFiles,
  type IdentityMaterial,
} from './identity-material.js';
import { validityError } from './client-certificate.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';

/** Failures of what is in use that a changed password, user name or CA file may end. */
const MENDED_BY_OTHER_FILES: ReadonlySet<string> = new Set<ProblemCode>([
  'credentials-rejected',
  'bank-untrusted',
  'proxy-refused',
]);
/** Changes take effect within 5 s (docs/certificates.md#renew-the-certificate). */
const POLL_EVERY_MS = 1000;

/**
 * Holds the current identity and replaces it without a restart. Changed files are read, checked and proved by a real
 * token request before they take effect, all together. A bad file changes nothing and is reported. Read `current` each
 * time; do not keep it.
 */
export class IdentityHolder implements OnApplicationShutdown {
  readonly #oneTokenRequest = pLimit(1);
  readonly #files: RenewedFiles<IdentityMaterial>;
  readonly #log: IdentityLog;
  readonly #expiry: ExpiryNotice;
  readonly #expiryTimer: NodeJS.Timeout;
  #current: BankIdentity;
  /** A new identity that no token request has proved yet. Its back-off decides when the next request may. */
  #candidate: BankIdentity | null = null;

  /** Reads the first identity. @throws CertificateUnreadable, FileUnusable */
  static async start(parts: EgressParts): Promise<IdentityHolder> {
    const { settings, clock } = parts;
    // these run only once `holder` is set
    const files: RenewedFiles<IdentityMaterial> = new RenewedFiles<IdentityMaterial>({
      files: watchedFiles(settings),
      clock,
      everyMs: POLL_EVERY_MS,
      read: () => readIdentityMaterial(settings, new Date(clock.now().wall)),
      isInUse: (material) => isDeepStrictEqual(material, holder.current.material),
      putIntoUse: (material, signal) => holder.#prove(material, signal),
      unchanged: () => holder.#unchanged(),
      rejected: (error, material) => holder.#rejected(toUnusable(error), material),
    });
    const holder = new IdentityHolder(parts, files, await files.open());
    return holder;
  }

  private constructor(
    private readonly parts: EgressParts,
    files: RenewedFiles<IdentityMaterial>,
    material: IdentityMaterial,
  ) {
    this.#files = files;
    this.#log = new IdentityLog(parts.logger);
    this.#expiry = new ExpiryNotice(parts.logger, {
      what: 'the client certificate',
      remedy: 'get a new one from the bank and install it',
      expiredCode: 'certificate-unusable',
    });
    this.#current = this.#create(material);
    this.#log.loaded(material.certificate, this.#nowMs);
    this.#checkExpiry();
    this.#expiryTimer = setInterval(() => this.#checkExpiry(), POLL_EVERY_MS).unref();
  }

  get current(): BankIdentity {
    return this.#current;
  }

  /**
   * Reloads the files now, and ends any back-off (SIGHUP). Resolves once the new identity is in use or rejected; never
   * rejects.
   */
  reload(): Promise<void> {
    this.#current.tokens.resetBackOff();
    this.#candidate?.tokens.resetBackOff();
    return this.#files.reload();
  }

  /** The certificate as health shows it, without secrets. */
  status() {
    const { certificate } = this.#current;
    const { subject, thumbprint, notAfter } = certificate;
    return {
      subject,
      thumbprint,
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft(certificate, this.#nowMs),
      /** The reason why the certificate cannot be used now, or null. */
      unusable: validityError(certificate, this.#nowMs)?.detail ?? null,
      ...this.#waitingStatus(),
    };
  }

  /** Also aborts calls in flight, with `stopping`. */
  onApplicationShutdown(): void {
    clearInterval(this.#expiryTimer);
    this.#files.close();
    this.#dropCandidate();
    this.#current.egress.close();
  }

  get #nowMs(): number {
    return this.parts.clock.now().wall;
  }

  #checkExpiry(): void {
    this.#expiry.check(this.#current.certificate, this.#nowMs);
  }

  /** The certificate in the files that is not yet in use, and its rejections. */
  #waitingStatus() {
    const { waiting } = this.#files;
    if (!waiting) return { next: null, rejected: null, credentialsRejected: null };
    const { value, since } = waiting;
    const error = toUnusable(waiting.error);
    const { code, detail } = error;
    const { certificate } = this.#current;
    if (value && value.certificate.thumbprint === certificate.thumbprint) {
      return { next: null, rejected: null, credentialsRejected: { code, detail } };
    }
    const state = stateOf(value, error, this.#nowMs);
    const next = {
      thumbprint: value?.certificate.thumbprint ?? null,
      notAfter: value?.certificate.notAfter.toISOString() ?? null,
      state,
      since: new Date(since.wall).toISOString(),
      detail,
    };
    return { next, rejected: state === 'refused' ? { code, detail } : null, credentialsRejected: null };
  }

  #rejected(error: GatewayError, material: IdentityMaterial | null): void {
    const isWaiting = stateOf(material, error, this.#nowMs) !== 'refused';
    this.#log.rejected(error, material, this.#current.material, isWaiting);
    this.#takeOtherFiles(this.#current.tokens.failureNow()?.code);
  }

  #unchanged(): void {
    this.#dropCandidate();
    this.#log.unchanged(this.#current.certificate);
  }

  /**
   * Requests a token with the new material, as often as its back-off allows. When the token arrives, `#requestToken`
   * has swapped the identities. If the bank does not respond, the new identity takes over only if the current one has
   * expired.
   * @throws GatewayError the reason why it is not in use
   */
  async #prove(material: IdentityMaterial, signal: AbortSignal): Promise<void> {
    if (!isDeepStrictEqual(this.#candidate?.material, material)) {
      this.#dropCandidate();
      this.#candidate = this.#create(material);
    }
    const candidate = this.#candidate as BankIdentity;
    const invalid = validityError(material.certificate, this.#nowMs);
    if (invalid) throw invalid;
    try {
      await orAborted(candidate.tokens.get(), signal);
    } catch (thrown) {
      if (signal.aborted) this.#dropCandidate();
      signal.throwIfAborted();
      const error = toGatewayError(thrown);
      const isOldUsable = validityError(this.#current.certificate, this.#nowMs) === null;
      if (error.owner === 'operator' || isOldUsable) throw error;
      this.#swap(candidate, false);
    }
  }

  /** Replaces the current identity. Calls in flight continue unchanged. */
  #swap(next: BankIdentity, isProved: boolean): void {
    const old = this.#current;
    this.#current = next;
    if (next === this.#candidate) this.#candidate = null;
    old.egress.retire();
    this.#log.replaced(next.material, old.material, isProved);
  }

  #dropCandidate(): void {
    this.#candidate?.egress.close();
    this.#candidate = null;
  }

  #create(material: IdentityMaterial): BankIdentity {
    const identity: BankIdentity = new BankIdentity(
      material,
      { ...this.parts, onCall: ({ failure }) => identity === this.#current && this.#takeOtherFiles(failure) },
      (request) => this.#oneTokenRequest(() => this.#requestToken(identity, request)),
      () => identity === this.#current,
    );
    return identity;
  }

  /**
   * Requests a token for an identity. A token for the candidate is the proof: it swaps the identities at once, so that
   * the next token request uses the new identity.
   */
  async #requestToken<T>(identity: BankIdentity, request: () => Promise<T>): Promise<T> {
    const isWanted = identity === this.#current || identity === this.#candidate;
    if (!isWanted) throw new GatewayError('stopping', 'Another identity is in use.');
    try {
      const token = await request();
      if (identity === this.#candidate) this.#swap(identity, true);
      return token;
    } catch (error) {
      if (identity === this.#current) this.#proveAgain(error);
      throw error;
    }
  }

  /**
   * Proves the waiting files now, whatever their back-off: the bank may have stopped accepting what is in use because it
   * switched to them. Not if its answer has a Retry-After.
   */
  #proveAgain(error: unknown): void {
    const { waiting } = this.#files;
    const isNow = error instanceof GatewayError && error.isRejection && error.retryAfterMs === undefined;
    if (!isNow || !waiting || !toUnusable(waiting.error).isRejection) return;
    this.#candidate?.tokens.resetBackOff();
    this.#files.retry();
  }

  /**
   * Takes the other changed files without their new certificate, which cannot be used yet, once calls fail with those in
   * use: a certificate may wait for days, and the password or the bank's CA change meanwhile.
   */
  #takeOtherFiles(failure: string | null | undefined): void {
    const { waiting } = this.#files;
    const { material } = this.#current;
    const isDue = MENDED_BY_OTHER_FILES.has(failure ?? '');
    if (!isDue || !waiting || waiting.value?.certificate.thumbprint === material.certificate.thumbprint) return;
    const { settings } = this.parts;
    const changed = { ...material, ...tryTo(() => readCredentials(settings)), ...tryTo(() => readRoots(settings)) };
    if (!isDeepStrictEqual(changed, material)) this.#swap(this.#create(changed), false);
  }
}

/** The reason why a new certificate is not in use: the bank has not registered it, or does not respond. */
function stateOf(
  material: IdentityMaterial | null,
  { code }: GatewayError,
  nowMs: number,
): 'waiting-for-bank' | 'not-yet-valid' | 'refused' {
  if (!material || nowMs > material.certificate.notAfter.getTime()) return 'refused';
  if (nowMs < material.certificate.notBefore.getTime()) return 'not-yet-valid';
  return code === 'bank-untrusted' || code === 'certificate-unusable' ? 'refused' : 'waiting-for-bank';
}

function toUnusable(error: Error): GatewayError {
  const isBadFile = error instanceof CertificateUnreadable || error instanceof FileUnusable;
  return isBadFile ? new GatewayError('certificate-unusable', error.message) : toGatewayError(error);
}

/** Null if the files cannot be read, which `waiting` reports. */
function tryTo<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
