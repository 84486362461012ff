import type { Logger } from 'pino';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ClientCertificate } from './pfx/client-certificate.js';
import { validityError } from './identity-material.js';

/** Logs the events of the identity (docs/logs.md#events). */
export class IdentityLog {
  constructor(private readonly logger: Logger) {}

  loaded(certificate: ClientCertificate, nowMs: number): void {
    this.logger.info({ event: 'certificate.loaded', ...describe(certificate) }, 'client certificate loaded');
    this.#warn(certificate);
    const error = validityError(certificate, nowMs);
    if (!error) return;
    const { code, owner, detail } = error;
    this.logger.error({ event: 'certificate.unusable', code, owner, ...describe(certificate) }, detail);
  }

  unchanged({ thumbprint }: ClientCertificate): void {
    this.logger.info(
      { event: 'certificate.unchanged', thumbprint },
      'the files contain the certificate and credentials already in use',
    );
  }

  /** @param proved false if the bank could not be reached, and the old certificate had expired */
  replaced(by: ClientCertificate, old: ClientCertificate, proved: boolean): void {
    this.logger.info(
      { event: 'certificate.replaced', ...describe(by), replaced: old.thumbprint, proved },
      'the new certificate or credentials are in use',
    );
    this.#warn(by);
  }

  /** @param candidate null if it could not even be read */
  refused({ code, owner, detail }: GatewayError, candidate: ClientCertificate | null, inUse: ClientCertificate): void {
    const thumbprints = { thumbprint: candidate?.thumbprint, inUse: inUse.thumbprint };
    this.logger.error(
      { event: 'certificate.refused', code, owner, ...thumbprints },
      `the new certificate or credentials were refused; the old ones stay in use: ${detail}`,
    );
  }

  #warn({ warnings }: ClientCertificate): void {
    for (const warning of warnings) this.logger.warn({ event: 'certificate.warning' }, warning);
  }
}

function describe({ subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter }: ClientCertificate) {
  return { subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter };
}
