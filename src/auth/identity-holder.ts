import { isDeepStrictEqual } from 'node:util';
import type { OnApplicationShutdown } from '@nestjs/common';
import pLimit from 'p-limit';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { daysLeft, ExpiryNotice } from './expiry-notice.js';
import type { EgressParts } from '../egress/egress.js';
import { BankIdentity } from './bank-identity.js';
import { IdentityLog } from './identity-log.js';
import {
  findIdentityMaterial,
  toMaterial,
  watchedFiles,
  type FoundMaterial,
  type IdentityMaterial,
} from './identity-material.js';
import { validityError, type ClientCertificate } from './client-certificate.js';
import { RenewedFiles, toUnusable } from './renewed-files.js';

/**
 * Replaces the identity without a restart. Changed files are the next identity: with a token it becomes the current one.
 * While the current one fails for a reason that the operator can change, everything new but the certificate is tried
 * too, because a certificate may wait for days, and a new password must not wait with it.
 */
export class IdentityHolder implements OnApplicationShutdown {
  readonly #oneTokenRequest = pLimit(1);
  readonly #log: IdentityLog;
  readonly #expiry: ExpiryNotice;
  #current: BankIdentity;
  /** True if the current identity fails for a reason that the operator can change, since its last token. */
  #isRejected = false;

  /** Reads the first identity. @throws CertificateUnreadable, FileUnusable */
  static async start(parts: EgressParts): Promise<IdentityHolder> {
    const { settings, clock } = parts;
    // `use` and `rejected` run only once `holder` is set
    const files: RenewedFiles<FoundMaterial> = new RenewedFiles<FoundMaterial>({
      files: watchedFiles(settings),
      clock,
      read: () => findIdentityMaterial(settings, new Date(clock.now().wall)),
      use: (found, signal) => holder.#use(found, signal),
      rejected: (error, found) => holder.#rejected(error, found),
    });
    const holder = new IdentityHolder(parts, files, toMaterial(await files.open()));
    return holder;
  }

  private constructor(
    private readonly parts: EgressParts,
    private readonly files: RenewedFiles<FoundMaterial>,
    material: IdentityMaterial,
  ) {
    this.#log = new IdentityLog(parts.logger);
    this.#expiry = new ExpiryNotice(parts.logger, {
      what: 'the client certificate',
      remedy: 'get a new one from the bank and install it',
      expiredCode: 'certificate-unusable',
    });
    this.#current = this.#create(material);
    this.#log.loaded(material.certificate, this.#nowMs);
    this.#expiry.follow(() => this.#current.certificate, parts.clock);
  }

  /** Read it each time: it may be replaced. */
  get current(): BankIdentity {
    return this.#current;
  }

  /** Reloads the files now, and ends the back-off of the token (SIGHUP). Resolves as `RenewedFiles.reload`. */
  reload(): Promise<void> {
    this.#current.tokens.resetBackOff();
    return this.files.reload();
  }

  /**
   * Must be called when a call fails. When the bank begins to reject the current identity, it may have switched to the
   * waiting files: they are tried at once, unless the error has a Retry-After.
   */
  async failed(identity: BankIdentity, { owner, retryAfterMs }: GatewayError): Promise<void> {
    if (identity !== this.#current) return;
    const isFirst = owner === 'operator' && !this.#isRejected;
    this.#isRejected ||= owner === 'operator';
    if (isFirst && retryAfterMs === undefined) await this.files.retry();
  }

  status() {
    const { certificate } = this.#current;
    const { subject, thumbprint, notAfter } = certificate;
    return {
      subject,
      thumbprint,
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft(certificate, this.#nowMs),
      unusable: validityError(certificate, this.#nowMs)?.detail ?? null,
      ...this.#waitingStatus(),
    };
  }

  /** Also aborts calls in flight, with `stopping`. */
  onApplicationShutdown(): void {
    this.#expiry.close();
    this.files.close();
    this.#current.egress.close();
  }

  get #nowMs(): number {
    return this.parts.clock.now().wall;
  }

  #waitingStatus() {
    const { waiting } = this.files;
    if (!waiting) return { next: null, rejected: null, credentialsRejected: null };
    const { error, since } = waiting;
    const { code, detail } = error;
    const certificate = certificateIn(waiting.value);
    if (certificate?.thumbprint === this.#current.certificate.thumbprint) {
      return { next: null, rejected: null, credentialsRejected: { code, detail } };
    }
    const state = stateOf(certificate, error, this.#nowMs);
    const next = {
      thumbprint: certificate?.thumbprint ?? null,
      notAfter: certificate?.notAfter.toISOString() ?? null,
      state,
      since,
      detail,
    };
    return { next, rejected: state === 'refused' ? { code, detail } : null, credentialsRejected: null };
  }

  #rejected(error: GatewayError, found: FoundMaterial | null): void {
    const certificate = certificateIn(found);
    const isWaiting = stateOf(certificate, error, this.#nowMs) !== 'refused';
    this.#log.rejected(error, certificate, this.#current.certificate, isWaiting);
  }

  /** @throws Error why the certificate of the files is not in use */
  async #use(found: FoundMaterial, signal: AbortSignal): Promise<void> {
    const { material } = this.#current;
    if (isDeepStrictEqual(found, material)) return this.#log.unchanged(material.certificate);
    const { certificate, ...access } = found;
    const failure = certificate instanceof Error ? certificate : await this.#prove({ certificate, ...access }, signal);
    if (!failure) return;
    const other = { ...material, ...access };
    if (!this.#isRejected || isDeepStrictEqual(other, material)) throw failure;
    const otherFailure = await this.#prove(other, signal);
    if (!otherFailure) throw failure;
    // the next try repeats both requests, and neither may lock the user
    const error = toUnusable(failure);
    const isRejection = error.isRejection || otherFailure.isRejection;
    const { retryAfterMs = error.retryAfterMs } = otherFailure;
    throw new GatewayError(error.code, error.detail, { ...error, cause: error.cause, isRejection, retryAfterMs });
  }

  /**
   * Requests a token, and makes the material the current identity if it arrives. After a failure that the operator cannot
   * fix, the material is used only if the current certificate is not valid. Returns why it is not in use, or null.
   * @throws the reason of `signal`
   */
  async #prove(material: IdentityMaterial, signal: AbortSignal): Promise<GatewayError | null> {
    const invalid = validityError(material.certificate, this.#nowMs);
    if (invalid) return invalid;
    const { activity } = this.parts;
    const next = this.#create(material);
    const { tokens } = next;
    try {
      await this.#oneTokenRequest(async () => {
        tokens.take(await next.requestToken(signal));
        // before the next token request
        this.#swap(next, true);
      });
      activity.emit('tokenRequestEnded', { tokens, error: null });
      return null;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toGatewayError(thrown);
      activity.emit('tokenRequestEnded', { tokens, error });
      const isOldUsable = validityError(this.#current.certificate, this.#nowMs) === null;
      if (error.owner === 'operator' || isOldUsable) return error;
      this.#swap(next, false);
      return null;
    } finally {
      if (next !== this.#current) next.egress.close();
    }
  }

  /** Replaces the current identity. Calls in flight continue unchanged. */
  #swap(next: BankIdentity, isProved: boolean): void {
    const old = this.#current;
    this.#current = next;
    this.#isRejected = false;
    old.egress.retire();
    this.#log.replaced(next.certificate, old.certificate, isProved);
  }

  #create(material: IdentityMaterial): BankIdentity {
    const identity: BankIdentity = new BankIdentity(material, this.parts, (request) => this.#inTurn(identity, request));
    return identity;
  }

  /** @throws as `request`; stopping if the identity was replaced */
  async #inTurn<T>(identity: BankIdentity, request: () => Promise<T>): Promise<T> {
    try {
      const token = await this.#oneTokenRequest(() => {
        if (identity !== this.#current) throw new GatewayError('stopping', 'Another identity is in use.');
        return request();
      });
      this.#isRejected = false;
      return token;
    } catch (error) {
      await this.failed(identity, toGatewayError(error));
      throw error;
    }
  }
}

/** Why a new certificate is not in use. */
function stateOf(
  certificate: ClientCertificate | null,
  { code }: GatewayError,
  nowMs: number,
): 'waiting-for-bank' | 'not-yet-valid' | 'refused' {
  if (!certificate || nowMs > certificate.notAfter.getTime()) return 'refused';
  if (nowMs < certificate.notBefore.getTime()) return 'not-yet-valid';
  return code === 'bank-untrusted' || code === 'certificate-unusable' ? 'refused' : 'waiting-for-bank';
}

/** Null if it could not be read. */
const certificateIn = (found: FoundMaterial | null): ClientCertificate | null =>
  found === null || found.certificate instanceof Error ? null : found.certificate;
