import type { Server } from 'node:https';
import type { Logger } from 'pino';
import { readListenerPair, toDistinguishedName } from '../files/certificate-files.js';
import { examineListener } from '../files/examine-certificates.js';
import type { Settings } from '../config/settings.js';
import { withOwner } from '../errors/problem-table.js';
import { FileUnusable } from '../files/small-file.js';
import { daysLeft, ExpiryNotice } from '../auth/expiry-notice.js';
import { RenewedFiles } from '../auth/renewed-files.js';
import type { Clock } from '../time/clock.js';

type Pair = ReturnType<typeof readListenerPair>;

/**
 * The certificate for HTTPS on the internal API (TLS_CERT_FILE, TLS_KEY_FILE). Changed files are read, checked and
 * swapped without a restart; bad ones change nothing and are reported once.
 */
export class ListenerCertificate {
  #server: Server | null = null;

  /** Null without these files. @throws FileUnusable; the settings were checked before (cross-checks.ts) */
  static async open(
    { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, ALLOWED_HOSTS: hosts }: Settings,
    clock: Clock,
    logger: Logger,
  ): Promise<ListenerCertificate | null> {
    if (!certFile || !keyFile) return null;
    const files: RenewedFiles<Pair> = new RenewedFiles<Pair>({
      files: [certFile, keyFile],
      clock,
      read: () => readListenerPair(certFile, keyFile),
      use: (pair) => listener.#use(pair, certFile),
      rejected: ({ detail }) =>
        logger.error(
          { event: 'certificate.refused', use: 'listener', ...withOwner('certificate-unusable') },
          `the new certificate of the internal API (TLS_CERT_FILE) was rejected; the old one stays in use: ${detail}`,
        ),
    });
    const listener = new ListenerCertificate(clock, logger, hosts, files, await files.open());
    return listener;
  }

  private constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly hosts: readonly string[],
    private readonly files: RenewedFiles<Pair>,
    private pair: Pair,
  ) {}

  /** Options of the TLS server, and of its renewed context. */
  get options() {
    const { cert, key } = this.pair;
    return { cert, key, minVersion: 'TLSv1.2' as const };
  }

  /** Keeps the certificate of this server up to date while it listens. Returns the server. */
  renew(server: Server): Server {
    this.#server = server;
    const notice = new ExpiryNotice(this.logger, {
      use: 'listener',
      what: 'the certificate of the internal API (TLS_CERT_FILE)',
      remedy: 'install a new one; the gateway loads it without a restart',
    });
    server.once('listening', () => {
      const current = () => {
        const { subject, fingerprint, validToDate: notAfter } = this.pair.certificate;
        return { subject: toDistinguishedName(subject), thumbprint: fingerprint.replaceAll(':', ''), notAfter };
      };
      notice.follow(current, this.clock);
      server.once('close', () => {
        notice.close();
        this.files.close();
      });
    });
    return server;
  }

  reload(): Promise<void> {
    return this.files.reload();
  }

  /** State for health. `rejected`: the reason why a newer certificate was rejected, or null. */
  status() {
    const { subject, validToDate: notAfter } = this.pair.certificate;
    return {
      subject: toDistinguishedName(subject),
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft({ notAfter }, this.clock.now().wall),
      rejected: this.files.waiting?.error.detail ?? null,
    };
  }

  /** @throws FileUnusable if it is not valid now; the one in use is not rejected when it expires */
  #use(pair: Pair, certFile: string): void {
    if (pair.cert === this.pair.cert && pair.key === this.pair.key) return;
    const { validFromDate: from, validToDate: to } = pair.certificate;
    const now = this.clock.now().wall;
    if (pair.cert !== this.pair.cert && (now < from.getTime() || now > to.getTime())) {
      throw new FileUnusable(certFile, `is not valid now, only from ${from.toISOString()} to ${to.toISOString()}`);
    }
    this.pair = pair;
    this.#server?.setSecureContext(this.options);
    const { subject, notAfter } = this.status();
    this.logger.info(
      { event: 'certificate.replaced', use: 'listener', subject, notAfter },
      'a new certificate of the internal API (TLS_CERT_FILE) is in use',
    );
    // those of the first one are warnings about the settings
    for (const warning of examineListener(pair, this.hosts, new Date(now))) {
      this.logger.warn({ event: 'certificate.warning', use: 'listener' }, `TLS_CERT_FILE: ${warning}`);
    }
  }
}
