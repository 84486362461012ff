import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import { withOwner, type AnyCode } from '../errors/problem-table.js';
import type { ClientCertificate } from './client-certificate.js';

const DAY_MS = 86_400_000;
/** A certificate with less time left is reported as `certificate-expiring`. */
export const EXPIRING_UNDER_DAYS = 30;
const NOTICE_DAYS = [60, 30, 14, 7, 1, 0];
/** Days before expiry at which the log level becomes `error`: obtaining a certificate takes days. */
const ERROR_FROM_DAYS = 14;

type Certificate = Pick<ClientCertificate, 'subject' | 'thumbprint' | 'notAfter'>;

/** Texts in the log lines about a certificate. */
interface Wording {
  /** Value of the log field `use`; unset for the client certificate. */
  readonly use?: string;
  readonly what: string;
  readonly remedy: string;
  /** The code after expiry, as in /health, if it differs. */
  readonly expiredCode?: AnyCode;
}

/** Whole days until a certificate expires; negative afterwards. */
export function daysLeft(certificate: Pick<Certificate, 'notAfter'>, nowMs: number): number {
  return Math.floor((certificate.notAfter.getTime() - nowMs) / DAY_MS);
}

export function toDays(days: number): string {
  if (days < 1) return 'less than a day';
  return days === 1 ? '1 day' : `${days} days`;
}

/** Logs the expiry of a certificate 60, 30, 14, 7 and 1 days before, once each, and when it expires. */
export class ExpiryNotice {
  #timer: NodeJS.Timeout | undefined;
  #thumbprint = '';
  #loggedDays = Infinity;

  constructor(
    private readonly logger: Logger,
    private readonly wording: Wording,
  ) {}

  /** Checks the certificate in use now, and every second until `close`. */
  follow(current: () => Certificate, clock: Clock): void {
    const check = () => this.check(current(), clock.now().wall);
    check();
    this.#timer = setInterval(check, 1000).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  check(certificate: Certificate, nowMs: number): void {
    if (certificate.thumbprint !== this.#thumbprint) {
      this.#thumbprint = certificate.thumbprint;
      this.#loggedDays = Infinity;
    }
    const left = (certificate.notAfter.getTime() - nowMs) / DAY_MS;
    const due = NOTICE_DAYS.findLast((days) => left <= days) ?? Infinity;
    const isDue = due < this.#loggedDays;
    // the remaining time increases when a wrong clock is corrected
    this.#loggedDays = due;
    if (!isDue) return;
    const { subject, thumbprint, notAfter } = certificate;
    const { use, what, remedy, expiredCode = 'certificate-expiring' } = this.wording;
    const fields = {
      event: 'certificate.expiring',
      ...withOwner(left <= 0 ? expiredCode : 'certificate-expiring'),
      ...(use && { use }),
      subject,
      thumbprint,
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft(certificate, nowMs),
    };
    const when = left <= 0 ? 'has expired' : `expires in ${toDays(fields.daysLeft)}`;
    this.logger[due <= ERROR_FROM_DAYS ? 'error' : 'warn'](fields, `${what} ${when}: ${remedy}`);
  }
}
