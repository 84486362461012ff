import type { Logger } from 'pino';
import type { GatewayError } from '../errors/gateway-error.js';
import { validityError, type ClientCertificate } from './client-certificate.js';

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

  /** @param proved false if no token request has succeeded with it */
  replaced(by: ClientCertificate, old: ClientCertificate, proved: boolean): void {
    this.logger.info(
      { event: 'certificate.replaced', ...describe(by), replaced: old.thumbprint, proved },
      by.thumbprint === old.thumbprint
        ? 'the changed files are in use, with the same certificate'
        : 'the new certificate is in use',
    );
    this.#warn(by);
  }

  /** @param isWaiting true if `next` may be used later: the bank has not accepted it, or it is not valid yet */
  rejected(
    { code, owner, detail }: GatewayError,
    next: ClientCertificate | null,
    inUse: ClientCertificate,
    isWaiting: boolean,
  ): void {
    const isSame = next?.thumbprint === inUse.thumbprint;
    const isNew = next !== null && !isSame;
    const event = isSame ? { event: 'credentials.refused' } : { event: 'certificate.refused' };
    const fields = { ...event, code, owner, inUse: inUse.thumbprint, ...(isNew && { thumbprint: next.thumbprint }) };
    const stays = isSame ? 'user name, password and CA stay as they were' : 'the old ones stay in use';
    const words = isNew
      ? `the new certificate ${isWaiting ? 'cannot be used yet' : 'was rejected'}; the old one stays in use`
      : `the changed files cannot be used; ${stays}`;
    this.logger[isNew && isWaiting ? 'warn' : 'error'](fields, `${words}: ${detail}`);
  }

  #warn({ warnings }: ClientCertificate): void {
    for (const warning of warnings) this.logger.warn({ event: 'certificate.warning' }, warning);
  }
}

function describe({ subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter }: ClientCertificate) {
  return { subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter };
}
