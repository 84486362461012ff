import { isDeepStrictEqual } from 'node:util';
import type { OnApplicationShutdown } from '@nestjs/common';
import pLimit from 'p-limit';
import { orAborted } from '../time/deadline.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEMS, type ProblemCode } from '../errors/problem-table.js';
import { BankIdentity, type IdentityParts } from './bank-identity.js';
import { daysLeft, ExpiryNotice } from '../config/expiry-notice.js';
import { FileUnusable } from '../config/small-file.js';
import { CertificateUnreadable } from './pfx/certificate-unreadable.js';
import { IdentityFiles } from './identity-files.js';
import { IdentityLog } from './identity-log.js';
import { validityError, type IdentityMaterial } from './identity-material.js';

/** Changes take effect within 5 s (docs/certificates.md#renew-the-certificate). */
const LOOK_EVERY_MS = 1000;

/**
 * Holds the identity in use, and replaces it while running: changed files are read, checked and proved by a real token
 * request, and only then take over, all together. A bad one changes nothing and is reported. Users of the identity
 * read `current` each time and do not keep it.
 */
export class IdentityHolder implements OnApplicationShutdown {
  readonly #oneTokenRequest = pLimit(1);
  readonly #oneReload = pLimit(1);
  readonly #log: IdentityLog;
  readonly #expiry: ExpiryNotice;
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #current: BankIdentity;
  /** A new identity that no token request has proved yet. */
  #candidate: BankIdentity | null = null;
  /** The proof in flight. */
  #proof: AbortController | null = null;
  #refusal: { readonly code: ProblemCode; readonly detail: string; readonly at: string } | null = null;
  /** The refusal of the files as they are now that was logged last. */
  #loggedRefusal: string | null = null;

  /** Reads the first identity. @throws CertificateUnreadable, FileUnusable */
  static async start(options: IdentityParts): Promise<IdentityHolder> {
    const files = new IdentityFiles(options.settings, options.clock);
    return new IdentityHolder(options, files, await files.read());
  }

  /** For `start`. */
  constructor(
    private readonly options: IdentityParts,
    private readonly files: IdentityFiles,
    material: IdentityMaterial,
  ) {
    this.#log = new IdentityLog(options.logger);
    this.#expiry = new ExpiryNotice(options.logger, {
      what: 'the client certificate',
      remedy: 'get a new one from the bank and install it',
      expiredCode: 'certificate-unusable',
    });
    this.#current = this.#create(material);
    this.#log.loaded(this.#current.certificate, this.#nowMs);
    this.#expiry.check(this.#current.certificate, this.#nowMs);
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  get current(): BankIdentity {
    return this.#current;
  }

  /**
   * Reloads the files now, and ends any back-off (SIGHUP). Resolves when the new identity is in use or was
   * refused; never rejects.
   */
  reload(): Promise<void> {
    this.#current.tokens.resetBackOff();
    this.#candidate?.tokens.resetBackOff();
    this.#loggedRefusal = null;
    this.#endProof();
    return this.#oneReload(() => this.#reload());
  }

  /** The certificate as health shows it; without secrets. */
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
      /** The reason why a newer identity was refused, or null. */
      refused: this.#refusal,
    };
  }

  /** Also aborts calls in flight, with `stopping`. */
  onApplicationShutdown(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
    this.#dropCandidate();
    this.#current.close();
  }

  get #nowMs(): number {
    return this.options.clock.now().wall;
  }

  #look(): void {
    this.#expiry.check(this.#current.certificate, this.#nowMs);
    if (this.files.takeChange()) {
      this.#loggedRefusal = null;
      this.#endProof();
      void this.#oneReload(() => this.#reload());
      return;
    }
    if (this.#oneReload.activeCount > 0) return;
    if (this.files.mustReadAgain) {
      void this.#oneReload(() => this.#reload());
    } else if (this.#candidate) {
      void this.#oneReload(() => this.#prove());
    }
  }

  async #reload(): Promise<void> {
    const { signal } = this.#closing;
    let material: IdentityMaterial;
    try {
      material = await this.files.read(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#dropCandidate();
      this.#refuse(toUnusable(error));
      return;
    }
    if (signal.aborted) return;
    if (isDeepStrictEqual(material, this.#current.material)) {
      this.#dropCandidate();
      this.#refusal = null;
      this.#log.unchanged(this.#current.certificate);
      return;
    }
    const isKnown = this.#candidate !== null && isDeepStrictEqual(material, this.#candidate.material);
    if (!isKnown) {
      this.#dropCandidate();
      this.#candidate = this.#create(material);
    }
    await this.#prove();
  }

  /** Requests a token as the candidate, at most as often as its back-off allows, and then decides about it. */
  async #prove(): Promise<void> {
    const candidate = this.#candidate;
    if (!candidate || candidate.tokens.isBackingOff) return;
    const invalid = validityError(candidate.certificate, this.#nowMs);
    if (invalid) {
      // it stays the candidate: one that is not valid yet will be
      this.#refuse(invalid);
      return;
    }
    this.#proof = new AbortController();
    try {
      await orAborted(candidate.tokens.get(), this.#proof.signal);
      if (candidate === this.#candidate) this.#take(candidate, true);
    } catch (thrown) {
      if (candidate === this.#candidate) this.#decideUnproved(candidate, toGatewayError(thrown));
    } finally {
      this.#proof = null;
    }
  }

  /** Ends the proof in flight, so that changed files need not wait for a bank that hangs. */
  #endProof(): void {
    if (!this.#proof) return;
    this.#dropCandidate();
    this.#proof.abort();
  }

  /** Decides about a candidate whose token request failed. Unless it is taken, the next look proves it again. */
  #decideUnproved(candidate: BankIdentity, error: GatewayError): void {
    const isForOperator = PROBLEMS[error.code].owner === 'operator';
    const isOldUsable = validityError(this.#current.certificate, this.#nowMs) === null;
    if (isForOperator) {
      this.#refuse(error);
    } else if (isOldUsable) {
      const untested = 'The new certificate could not be tested at the bank; the gateway retries.';
      this.#refuse(new GatewayError(error.code, `${error.detail} ${untested}`, error));
    } else {
      this.#take(candidate, false);
    }
  }

  /** Puts the candidate in the place of the current identity, whose calls in flight end as they would have. */
  #take(candidate: BankIdentity, isProved: boolean): void {
    const old = this.#current;
    this.#current = candidate;
    this.#candidate = null;
    this.#refusal = null;
    old.retire();
    this.options.activity.emit('identityReplaced');
    this.#log.replaced(candidate.certificate, old.certificate, isProved);
  }

  /** Keeps the current identity. Each change of the files is logged once, however often they are read and proved again. */
  #refuse(error: GatewayError): void {
    const { code, detail } = error;
    this.#refusal = { code, detail, at: new Date(this.#nowMs).toISOString() };
    if (detail === this.#loggedRefusal) return;
    this.#loggedRefusal = detail;
    this.#log.refused(error, this.#candidate?.certificate ?? null, this.#current.certificate);
  }

  #dropCandidate(): void {
    this.#candidate?.close();
    this.#candidate = null;
  }

  #create(material: IdentityMaterial): BankIdentity {
    return new BankIdentity(material, this.options, this.#oneTokenRequest);
  }
}

function toUnusable(error: unknown): GatewayError {
  const isBadFile = error instanceof CertificateUnreadable || error instanceof FileUnusable;
  return isBadFile ? new GatewayError('certificate-unusable', error.message) : toGatewayError(error);
}
