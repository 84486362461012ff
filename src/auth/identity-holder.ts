import type { OnApplicationShutdown } from '@nestjs/common';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';
import type { Settings } from '../config/settings.js';
import { FileUnusable } from '../config/small-file.js';
import type { BankCondition } from './bank-condition.js';
import { BankIdentity, certificateFault, type SharedTokens } from './bank-identity.js';
import { daysLeft, ExpiryNotice } from '../pfx/expiry-notice.js';
import { FileWatch } from '../config/file-watch.js';
import { mayPass, readIdentityMaterial, readRoots, type IdentityMaterial } from './identity-material.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';

/** Files are looked at this often: a change is taken up within 5 s, as docs/certificates.md#renew-the-certificate promises. */
const LOOK_EVERY_MS = 1000;

/** Failures of a proof that say nothing about the new identity: the bank cannot be reached, or does not answer properly. */
const OUT_OF_REACH: ReadonlySet<ProblemCode> = new Set([
  'bank-unreachable',
  'bank-error',
  'bank-timeout',
  'bank-rate-limited',
  'bank-response-invalid',
  'proxy-refused',
  'proxy-unavailable',
]);

interface IdentityHolderOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  readonly condition: BankCondition;
  readonly sharing?: SharedTokens | undefined;
}

interface Refusal {
  readonly code: string;
  readonly detail: string;
  readonly at: string;
}

/**
 * Holds the identity we use towards the bank, and exchanges it while running: changed files are read, checked and proved
 * by a real token request, and only then take over, all together. A bad one changes nothing and is reported. Everything
 * that needs the identity asks for `current` at the moment of use.
 */
export class IdentityHolder implements OnApplicationShutdown {
  readonly #options: IdentityHolderOptions;
  readonly #oneTokenRequest = pLimit(1);
  readonly #oneReload = pLimit(1);
  readonly #notice: ExpiryNotice;
  readonly #watch: FileWatch;
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  readonly #onReplaced = new Set<() => void>();
  #current: BankIdentity;
  /** A new identity that waits to be proved. */
  #candidate: BankIdentity | null = null;
  #refusal: Refusal | null = null;
  /** A passing failure kept the files from being read: they are read again at the next look. */
  #unread = false;

  /**
   * Reads the identity to begin with.
   * @throws CertificateUnreadable, FileUnusable when there is none
   */
  static async start(options: IdentityHolderOptions): Promise<IdentityHolder> {
    const watch = new FileWatch(watchedFiles(options.settings), options.clock);
    return new IdentityHolder(options, watch, await readMaterial(options));
  }

  /** For `start`. */
  constructor(options: IdentityHolderOptions, watch: FileWatch, material: IdentityMaterial) {
    this.#options = options;
    this.#watch = watch;
    this.#current = this.#create(material);
    const { clock, logger } = options;
    const { certificate } = this.#current;
    logger.info({ event: 'certificate.loaded', ...describe(certificate) }, 'client certificate loaded');
    for (const warning of certificate.warnings) logger.warn({ event: 'certificate.warning' }, warning);
    const fault = certificateFault(certificate, clock.now().wall);
    if (fault) logger.error({ event: 'certificate.unusable', ...describe(certificate) }, fault);
    this.#notice = new ExpiryNotice(logger, {
      what: 'the client certificate',
      remedy: 'get a new PFX from the bank and put it in place',
    });
    this.#notice.check(certificate, clock.now().wall);
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  get current(): BankIdentity {
    return this.#current;
  }

  /** Calls `listener` each time a new identity has taken over. */
  onReplaced(listener: () => void): void {
    this.#onReplaced.add(listener);
  }

  /**
   * Looks at the files now, and ends any waiting after a refusal (SIGHUP). Resolves when what was found has been proved,
   * taken or refused; never rejects.
   */
  reload(): Promise<void> {
    this.#current.tokens.resetBackOff();
    this.#candidate?.tokens.resetBackOff();
    return this.#oneReload(() => this.#reload());
  }

  /** What health shows of the certificate; nothing of it is secret. */
  status() {
    const { certificate } = this.#current;
    const nowMs = this.#options.clock.now().wall;
    return {
      subject: certificate.subject,
      thumbprint: certificate.thumbprint,
      notAfter: certificate.notAfter.toISOString(),
      daysLeft: daysLeft(certificate, nowMs),
      /** Why the certificate cannot be used now, or null. */
      fault: certificateFault(certificate, nowMs),
      /** Why a newer identity was not taken, or null. */
      refused: this.#refusal,
    };
  }

  /** Ends calls in flight too, with `stopping`. */
  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
    this.#candidate?.close();
    this.#current.close();
  }

  onApplicationShutdown(): void {
    this.close();
  }

  #look(): void {
    this.#notice.check(this.#current.certificate, this.#options.clock.now().wall);
    const files = this.#watch.look();
    if (files === 'changing' || this.#oneReload.activeCount > 0) return;
    if (files !== 'unchanged' || this.#unread) void this.#oneReload(() => this.#reload(files === 'restless'));
    else if (this.#candidate) void this.#oneReload(() => this.#proveCandidate());
  }

  async #reload(restless = false): Promise<void> {
    this.#watch.acknowledge();
    try {
      const material = await readMaterial(this.#options, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      this.#unread = false;
      if (isSame(material, this.#current.material)) {
        this.#drop();
        this.#refusal = null;
        const { thumbprint } = this.#current.certificate;
        // not again and again for a file that is touched again and again
        if (!restless)
          this.#options.logger.info(
            { event: 'certificate.unchanged', thumbprint },
            'the files hold the identity in use',
          );
        return;
      }
      if (!this.#candidate || !isSame(material, this.#candidate.material)) {
        this.#drop();
        this.#candidate = this.#create(material);
      }
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#unread = mayPass(error);
      if (!this.#unread) this.#drop();
      this.#refuse(toRefusalReason(error, this.#unread));
      return;
    }
    await this.#proveCandidate();
  }

  /** Asks the bank for a token as the new identity; at most as often as its token's own waiting allows. */
  async #proveCandidate(): Promise<void> {
    const candidate = this.#candidate;
    if (!candidate || candidate.tokens.waiting) return;
    const { clock } = this.#options;
    const fault = certificateFault(candidate.certificate, clock.now().wall);
    if (fault) {
      // kept: one that is not valid yet will be; said once
      this.#refuse({ code: 'certificate-unusable', detail: fault });
      return;
    }
    try {
      await candidate.tokens.get();
      this.#take(candidate, true);
    } catch (thrown) {
      if (this.#closing.signal.aborted) return;
      const error = toGatewayError(thrown);
      const outOfReach = OUT_OF_REACH.has(error.code);
      if (outOfReach && certificateFault(this.#current.certificate, clock.now().wall)) this.#take(candidate, false);
      else
        this.#refuse({
          code: error.code,
          detail: outOfReach
            ? `${error.detail} The new certificate could not be proved, and is tried again.`
            : error.detail,
        });
    }
  }

  #take(candidate: BankIdentity, proved: boolean): void {
    const old = this.#current;
    this.#current = candidate;
    this.#candidate = null;
    this.#refusal = null;
    old.retire();
    const { logger, condition } = this.#options;
    if (proved) condition.succeeded('token');
    const { certificate } = candidate;
    logger.info(
      { event: 'certificate.replaced', ...describe(certificate), replaced: old.certificate.thumbprint, proved },
      proved
        ? 'a new identity has taken over, proved by a token'
        : 'a new identity has taken over unproved: the old certificate has expired and the bank is out of reach',
    );
    for (const warning of certificate.warnings) logger.warn({ event: 'certificate.warning' }, warning);
    for (const listener of this.#onReplaced) listener();
  }

  #refuse({ code, detail }: Pick<Refusal, 'code' | 'detail'>): void {
    const again = this.#refusal?.code === code && this.#refusal.detail === detail;
    const at = new Date(this.#options.clock.now().wall).toISOString();
    this.#refusal = { code, detail, at };
    if (again) return;
    this.#options.logger.error(
      {
        event: 'certificate.refused',
        code,
        thumbprint: this.#candidate?.certificate.thumbprint,
        inUse: this.#current.certificate.thumbprint,
      },
      `the new certificate or credentials are not taken, the old ones stay: ${detail}`,
    );
  }

  #drop(): void {
    this.#candidate?.retire();
    this.#candidate = null;
  }

  #create(material: IdentityMaterial): BankIdentity {
    const { condition } = this.#options;
    const identity: BankIdentity = new BankIdentity({
      ...this.#options,
      material,
      oneAtATime: this.#oneTokenRequest,
      // how the bank does is told by the identity in use; a candidate's refusal is no failure of the bank
      condition: {
        failed: (work, error) => void (identity === this.#current && condition.failed(work, error)),
        succeeded: (work) => void (identity === this.#current && condition.succeeded(work)),
      },
    });
    return identity;
  }
}

function watchedFiles(settings: Settings): string[] {
  const { BANK_PFX_BASE64, BANK_PFX_PASSCODE, BANK_KEY_PASSPHRASE, BANK_USERNAME, BANK_PASSWORD } = settings;
  return [
    settings.BANK_PFX_FILE,
    settings.BANK_CERT_FILE,
    settings.BANK_KEY_FILE,
    settings.BANK_CA_FILE,
    settings.EGRESS_PROXY_CA_FILE,
    ...[BANK_PFX_BASE64, BANK_PFX_PASSCODE, BANK_KEY_PASSPHRASE, BANK_USERNAME, BANK_PASSWORD].map(
      (secret) => secret?.file,
    ),
  ].filter((file) => typeof file === 'string');
}

async function readMaterial(
  { settings, clock }: IdentityHolderOptions,
  signal?: AbortSignal,
): Promise<IdentityMaterial> {
  const { EGRESS_PROXY_CA_FILE: file } = settings;
  const proxyCa = file === undefined ? null : readRoots(file).pem;
  return { ...(await readIdentityMaterial(settings, new Date(clock.now().wall), signal)), proxyCa };
}

function isSame(a: IdentityMaterial, b: IdentityMaterial): boolean {
  const chain = ({ certificate }: IdentityMaterial) => [certificate.certificatePem, ...certificate.chainPem].join('');
  return (
    a.username === b.username &&
    a.password === b.password &&
    a.ca === b.ca &&
    a.proxyCa === b.proxyCa &&
    chain(a) === chain(b)
  );
}

function toRefusalReason(error: unknown, triedAgain: boolean): Pick<Refusal, 'code' | 'detail'> {
  const known =
    error instanceof CertificateUnreadable || error instanceof FileUnusable || error instanceof GatewayError;
  const detail = known ? error.message : 'The files could not be read, by an internal fault.';
  return {
    code: known ? 'certificate-unusable' : 'internal-error',
    detail: triedAgain ? `${detail} They are read again every second.` : detail,
  };
}

function describe(certificate: BankIdentity['certificate']) {
  const { subject, issuer, thumbprint, thumbprintSha256, notBefore, notAfter } = certificate;
  return {
    subject,
    issuer,
    thumbprint,
    thumbprintSha256,
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
  };
}
