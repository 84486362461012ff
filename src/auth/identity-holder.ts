import type { Logger } from 'pino';
import pLimit from 'p-limit';
import type { Clock } from '../clock.js';
import type { BankSettings, EgressSettings } from '../settings/settings.js';
import type { BankCondition } from './bank-condition.js';
import { BankIdentity, certificateFault } from './bank-identity.js';
import { readIdentityMaterial, type IdentityMaterial } from './identity-material.js';

const DAY_MS = 86_400_000;

export interface IdentityHolderOptions {
  readonly bank: BankSettings;
  readonly egress: EgressSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly condition: BankCondition;
}

/**
 * Holds the identity we use towards the bank. Everything that needs it asks for `current` at the moment of use.
 * @throws PfxUnreadable, FileUnusable from the constructor when there is none to begin with
 */
export class IdentityHolder {
  readonly #options: IdentityHolderOptions;
  readonly #oneTokenRequest = pLimit(1);
  #current: BankIdentity;

  constructor(options: IdentityHolderOptions) {
    this.#options = options;
    const { clock, logger, bank } = options;
    this.#current = this.#create(readIdentityMaterial(bank.identity, new Date(clock.now().wall)));
    const { certificate } = this.#current;
    logger.info({ event: 'certificate.loaded', ...describe(certificate) }, 'client certificate loaded');
    for (const warning of certificate.warnings) logger.warn({ event: 'certificate.warning' }, warning);
    const fault = certificateFault(certificate, clock.now().wall);
    if (fault) logger.error({ event: 'certificate.unusable', ...describe(certificate) }, fault);
  }

  get current(): BankIdentity {
    return this.#current;
  }

  /** What health shows of the certificate; nothing of it is secret. */
  status() {
    const { certificate } = this.#current;
    const nowMs = this.#options.clock.now().wall;
    return {
      subject: certificate.subject,
      thumbprint: certificate.thumbprint,
      notAfter: certificate.notAfter.toISOString(),
      daysLeft: Math.floor((certificate.notAfter.getTime() - nowMs) / DAY_MS),
      fault: certificateFault(certificate, nowMs),
    };
  }

  close(): void {
    this.#current.retire();
  }

  #create(material: IdentityMaterial): BankIdentity {
    return new BankIdentity({ ...this.#options, material, oneAtATime: (work) => this.#oneTokenRequest(work) });
  }
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
