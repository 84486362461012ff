import { isDeepStrictEqual } from 'node:util';
import type { OnApplicationShutdown } from '@nestjs/common';
import pLimit from 'p-limit';
import type { Instant } from '../time/clock.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { PROBLEMS, type ProblemCode } from '../errors/problem-table.js';
import type { BankCondition } from './bank-condition.js';
import { BankIdentity, type IdentityParts } from './bank-identity.js';
import { daysLeft, ExpiryNotice } from '../config/expiry-notice.js';
import { FileUnusable } from '../config/small-file.js';
import { CertificateUnreadable } from './pfx/certificate-unreadable.js';
import { FileWatch } from '../config/file-watch.js';
import { IdentityLog } from './identity-log.js';
import { readIdentityMaterial, validityError, watchedFiles, type IdentityMaterial } from './identity-material.js';

/** Changes take effect within 5 s (docs/certificates.md#renew-the-certificate). */
const LOOK_EVERY_MS = 1000;
/** Files that cannot be used are read again after this time: the reason may pass without a change of the files (EMFILE). */
const READ_AGAIN_AFTER_MS = 60_000;

interface IdentityHolderOptions extends IdentityParts {
  readonly condition: BankCondition;
}

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
  #refusal: { readonly code: ProblemCode; readonly detail: string; readonly at: string } | null = null;
  /** When the files were last found unusable; null once they have been read. */
  #unusableAt: Instant | null = null;

  /** Reads the first identity. @throws CertificateUnreadable, FileUnusable */
  static async start(options: IdentityHolderOptions): Promise<IdentityHolder> {
    const { settings, clock } = options;
    const watch = new FileWatch(watchedFiles(settings));
    return new IdentityHolder(options, watch, await readIdentityMaterial(settings, new Date(clock.now().wall)));
  }

  /** For `start`. */
  constructor(
    private readonly options: IdentityHolderOptions,
    private readonly watch: FileWatch,
    material: IdentityMaterial,
  ) {
    this.#log = new IdentityLog(options.logger);
    this.#expiry = new ExpiryNotice(options.logger, {
      what: 'the client certificate',
      remedy: 'get a new one from the bank and install it',
    });
    this.#current = this.#create(material);
    this.#current.tokens.reportTo(options.condition);
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
    this.#candidate?.close();
    this.#current.close();
  }

  get #nowMs(): number {
    return this.options.clock.now().wall;
  }

  #look(): void {
    this.#expiry.check(this.#current.certificate, this.#nowMs);
    const changed = this.watch.changed();
    if (this.#oneReload.activeCount > 0) return;
    const { clock } = this.options;
    const readAgain = this.#unusableAt !== null && clock.since(this.#unusableAt) >= READ_AGAIN_AFTER_MS;
    if (changed || readAgain) void this.#oneReload(() => this.#reload());
    else if (this.#candidate) void this.#oneReload(() => this.#prove());
  }

  async #reload(): Promise<void> {
    this.watch.acknowledge();
    const { settings, clock } = this.options;
    let material: IdentityMaterial;
    try {
      material = await readIdentityMaterial(settings, new Date(this.#nowMs), this.#closing.signal);
      this.#unusableAt = null;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#unusableAt = clock.now();
      this.#drop();
      this.#refuse(toUnusable(error));
      return;
    }
    if (this.#closing.signal.aborted) return;
    if (isDeepStrictEqual(material, this.#current.material)) {
      this.#drop();
      this.#refusal = null;
      this.#log.unchanged(this.#current.certificate);
      return;
    }
    if (!this.#candidate || !isDeepStrictEqual(material, this.#candidate.material)) {
      this.#drop();
      this.#candidate = this.#create(material);
    }
    await this.#prove();
  }

  /** Requests a token as the candidate, at most as often as its back-off allows. */
  async #prove(): Promise<void> {
    const candidate = this.#candidate;
    if (!candidate || candidate.tokens.waiting) return;
    const invalid = validityError(candidate.certificate, this.#nowMs);
    // kept: one that is not valid yet will be
    if (invalid) return this.#refuse(invalid);
    try {
      await candidate.tokens.get();
      this.#take(candidate, true);
    } catch (thrown) {
      if (this.#closing.signal.aborted) return;
      const error = toGatewayError(thrown);
      // it says nothing about the new identity when the network or the bank must act
      if (PROBLEMS[error.code].owner === 'operator') return this.#refuse(error);
      if (validityError(this.#current.certificate, this.#nowMs)) return this.#take(candidate, false);
      this.#refuse(error, ' The new certificate could not be tested at the bank; the gateway retries.');
    }
  }

  #take(candidate: BankIdentity, proved: boolean): void {
    const { condition } = this.options;
    const old = this.#current;
    this.#current = candidate;
    this.#candidate = null;
    this.#refusal = null;
    old.egress.retire();
    // it may have a request in flight, or one that waited for the proof
    old.tokens.reportTo(null);
    candidate.tokens.reportTo(condition);
    this.options.activity.emit('identityReplaced');
    if (proved) condition.succeeded('token');
    this.#log.replaced(candidate.certificate, old.certificate, proved);
  }

  #refuse(error: GatewayError, next = ''): void {
    const refusal = new GatewayError(error.code, error.detail + next, error);
    const { code, detail } = refusal;
    const again = this.#refusal?.code === code && this.#refusal.detail === detail;
    this.#refusal = { code, detail, at: new Date(this.#nowMs).toISOString() };
    if (!again) this.#log.refused(refusal, this.#candidate?.certificate ?? null, this.#current.certificate);
  }

  #drop(): void {
    this.#candidate?.egress.retire();
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
