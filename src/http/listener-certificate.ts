import type { X509Certificate } from 'node:crypto';
import type { Server } from 'node:https';
import type { Logger } from 'pino';
import type { Clock } from '../time/clock.js';
import { FileWatch } from '../config/file-watch.js';
import { readListenerPair } from '../config/certificate-files.js';
import { FileUnusable } from '../config/small-file.js';
import { daysLeft, ExpiryNotice } from '../config/expiry-notice.js';

/** TLS_CERT_FILE and TLS_KEY_FILE. */
interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * The certificate by which the internal API speaks HTTPS (TLS_CERT_FILE, TLS_KEY_FILE). Changed files are read, checked and
 * swapped while running; bad ones change nothing and are reported once.
 */
export class ListenerCertificate {
  readonly #files: CertificateFiles;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lookMs: number;
  readonly #watch: FileWatch;
  readonly #notice: ExpiryNotice;
  #pair: ReturnType<typeof readListenerPair>;
  #server: Server | null = null;
  /** True once the refusal of the files as they are now is in the log. */
  #isRefusalLogged = false;
  #refused: string | null = null;

  /** @throws FileUnusable; the settings were checked before (cross-checks.ts) */
  constructor(files: CertificateFiles, clock: Clock, logger: Logger, lookMs: number) {
    this.#lookMs = lookMs;
    this.#files = files;
    this.#clock = clock;
    this.#logger = logger;
    this.#watch = new FileWatch([files.certFile, files.keyFile]);
    this.#notice = new ExpiryNotice(logger, {
      use: 'listener',
      what: 'the certificate of the internal API (TLS_CERT_FILE)',
      remedy: 'install a new one; the gateway loads it without a restart',
    });
    this.#pair = readListenerPair(files.certFile, files.keyFile);
  }

  /** Options of the TLS server, and of its renewed context. */
  get options() {
    const { cert, key } = this.#pair;
    return { cert, key, minVersion: 'TLSv1.2' as const };
  }

  /** Keeps the certificate of this server up to date while it listens. */
  renew(server: Server): void {
    this.#server = server;
    server.once('listening', () => {
      this.#noteDays();
      const looks = setInterval(() => this.#look(), this.#lookMs).unref();
      server.once('close', () => clearInterval(looks));
    });
  }

  /** Reloads the files now (SIGHUP). */
  reload(): void {
    this.#watch.acknowledge();
    try {
      const pair = readListenerPair(this.#files.certFile, this.#files.keyFile);
      const isSameCertificate = pair.cert === this.#pair.cert;
      // the certificate in use is not refused once it has expired
      if (!isSameCertificate) this.#assertValidNow(pair.certificate);
      this.#refused = null;
      if (!isSameCertificate || pair.key !== this.#pair.key) this.#take(pair);
    } catch (error) {
      if (!(error instanceof FileUnusable)) throw error;
      this.#refuse(error.message);
    }
  }

  /** State for health. `refused`: the reason why a newer certificate was refused, or null. */
  status() {
    const { certificate } = this.#pair;
    const notAfter = certificate.validToDate;
    return {
      subject: toSubject(certificate),
      notAfter: notAfter.toISOString(),
      daysLeft: daysLeft({ notAfter }, this.#clock.now().wall),
      refused: this.#refused,
    };
  }

  #look(): void {
    const hasChanged = this.#watch.takeChange();
    if (hasChanged) this.#isRefusalLogged = false;
    // one that is refused may be readable, or valid, at the next look
    if (hasChanged || this.#refused) this.reload();
    this.#noteDays();
  }

  #noteDays(): void {
    const { certificate } = this.#pair;
    const { fingerprint, validToDate: notAfter } = certificate;
    const thumbprint = fingerprint.replaceAll(':', '');
    this.#notice.check({ subject: toSubject(certificate), thumbprint, notAfter }, this.#clock.now().wall);
  }

  #take(pair: ReturnType<typeof readListenerPair>): void {
    this.#pair = pair;
    this.#server?.setSecureContext(this.options);
    const { subject, notAfter } = this.status();
    this.#logger.info(
      { event: 'certificate.replaced', use: 'listener', subject, notAfter },
      'a new certificate of the internal API (TLS_CERT_FILE) is in use',
    );
  }

  #refuse(reason: string): void {
    const isSame = this.#refused === reason;
    this.#refused = reason;
    if (isSame && this.#isRefusalLogged) return;
    this.#isRefusalLogged = true;
    this.#logger.error(
      { event: 'certificate.refused', use: 'listener', code: 'certificate-unusable', owner: 'operator' },
      `the new certificate of the internal API (TLS_CERT_FILE) was refused; the old one stays in use: ${reason}`,
    );
  }

  /** @throws FileUnusable */
  #assertValidNow({ validFromDate: from, validToDate: to }: X509Certificate): void {
    const now = this.#clock.now().wall;
    if (from.getTime() <= now && now <= to.getTime()) return;
    const period = `${from.toISOString()} to ${to.toISOString()}`;
    throw new FileUnusable(this.#files.certFile, `is not valid now, only from ${period}`);
  }
}

const toSubject = ({ subject }: X509Certificate): string => subject.split('\n').join(', ');
