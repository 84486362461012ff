import type { Logger } from 'pino';
import type { ClientCertificate } from '../pfx/client-certificate.js';

const DAY_MS = 86_400_000;
const NOTICE_DAYS = [60, 30, 14, 7, 1, 0];
/** From here on waiting any longer is a risk: obtaining a certificate from a bank takes days. */
const ERROR_FROM_DAYS = 14;

/** Whole days until a certificate ends; negative when it has. */
export function daysLeft(certificate: Pick<ClientCertificate, 'notAfter'>, nowMs: number): number {
  return Math.floor((certificate.notAfter.getTime() - nowMs) / DAY_MS);
}

/** Says once each, 60, 30, 14, 7 and 1 days before the end of a certificate and at its end, that it runs out. */
export class ExpiryNotice {
  readonly #logger: Logger;
  #thumbprint = '';
  #saidDays = Infinity;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** To be called now and then, independent of traffic. */
  check(certificate: ClientCertificate, nowMs: number): void {
    if (certificate.thumbprint !== this.#thumbprint) {
      this.#thumbprint = certificate.thumbprint;
      this.#saidDays = Infinity;
    }
    const left = (certificate.notAfter.getTime() - nowMs) / DAY_MS;
    const due = NOTICE_DAYS.findLast((days) => left <= days);
    if (due === undefined || due >= this.#saidDays) return;
    this.#saidDays = due;
    const { subject, thumbprint, notAfter } = certificate;
    const fields = {
      event: 'certificate.expiring',
      subject,
      thumbprint,
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft(certificate, nowMs),
    };
    const when = left <= 0 ? 'has expired' : `ends in ${fields.daysLeft} days`;
    this.#logger[due <= ERROR_FROM_DAYS ? 'error' : 'warn'](
      fields,
      `the client certificate ${when}: get a new PFX from the bank and put it in place`,
    );
  }
}
