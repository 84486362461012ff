import type { Logger } from 'pino';
import type { GatewayError } from '../problems/gateway-error.js';
import type { ClientCertificate } from '../pfx/client-certificate.js';
import { ExpiryNotice } from '../pfx/expiry-notice.js';
import { validityError } from './validity-error.js';

/** Logs events of the identity (docs/logs.md#events). */
export class IdentityLog {
  readonly #logger: Logger;
  readonly #notice: ExpiryNotice;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#notice = new ExpiryNotice(logger, {
      what: 'the client certificate',
      remedy: 'get a new one from the bank and install it',
    });
  }

  loaded(certificate: ClientCertificate, nowMs: number): void {
    this.#logger.info({ event: 'certificate.loaded', ...describe(certificate) }, 'client certificate loaded');
    this.#warn(certificate);
    const error = validityError(certificate, nowMs);
    if (error) {
      const { code, owner, detail } = error;
      this.#logger.error({ event: 'certificate.unusable', code, owner, ...describe(certificate) }, detail);
    }
    this.checkExpiry(certificate, nowMs);
  }

  /** Logs the approaching expiry of a certificate, once for each threshold. */
  checkExpiry(certificate: ClientCertificate, nowMs: number): void {
    this.#notice.check(certificate, nowMs);
  }

  unchanged({ thumbprint }: ClientCertificate): void {
    this.#logger.info(
      { event: 'certificate.unchanged', thumbprint },
      'the files contain the certificate and credentials already in use',
    );
  }

  replaced(by: ClientCertificate, old: ClientCertificate, proved: boolean): void {
    this.#logger.info(
      { event: 'certificate.replaced', ...describe(by), replaced: old.thumbprint, proved },
      proved
        ? 'the new certificate or credentials are in use; the bank issued a token for them'
        : 'the new certificate or credentials are in use without a test: the old certificate has expired and the bank cannot be reached',
    );
    this.#warn(by);
  }

  /** @param candidate null if it could not even be read */
  refused({ code, owner, detail }: GatewayError, candidate: ClientCertificate | null, inUse: ClientCertificate): void {
    const thumbprints = { thumbprint: candidate?.thumbprint, inUse: inUse.thumbprint };
    this.#logger.error(
      { event: 'certificate.refused', code, owner, ...thumbprints },
      `the new certificate or credentials are refused, the old ones stay in use: ${detail}`,
    );
  }

  #warn({ warnings }: ClientCertificate): void {
    for (const warning of warnings) this.#logger.warn({ event: 'certificate.warning' }, warning);
  }
}

function describe({ subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter }: ClientCertificate) {
  const validity = { notBefore: notBefore.toISOString(), notAfter: notAfter.toISOString() };
  return { subject, issuer, thumbprint, thumbprintSha256, ...validity };
}
