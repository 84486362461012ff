import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import { Egress } from '../egress/egress.js';
import { GatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { AccessToken, RequestToken } from './access-token.js';
import { AccessTokenProvider } from './access-token-provider.js';
import type { BankCondition } from './bank-condition.js';
import type { IdentityMaterial } from './identity-material.js';
import type { ClientCertificate } from '../pfx/client-certificate.js';
import { requestToken } from './request-token.js';

interface BankIdentityOptions {
  readonly material: IdentityMaterial;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  readonly condition: Pick<BankCondition, 'failed' | 'succeeded'>;
  /** Where tokens are shared with other instances. */
  readonly sharing?: SharedTokens | undefined;
  /** Runs one token request at a time, over all identities. */
  readonly oneAtATime: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Puts the tokens of other instances in front of asking the bank (docs/fleet.md). Also the token it is injected by.
 * Instances that ask with the same `material` share with this one.
 */
export abstract class SharedTokens {
  abstract share(ask: () => Promise<AccessToken>, material: IdentityMaterial): RequestToken;
}

/**
 * One certificate with its credentials, its connections and its token: what belongs together, and is exchanged together
 * when the certificate is. A token belongs to the certificate it was issued under.
 */
export class BankIdentity {
  readonly certificate: ClientCertificate;
  /** What it was made of: key and password too. */
  readonly material: IdentityMaterial;
  readonly egress: Egress;
  readonly tokens: AccessTokenProvider;
  readonly #clock: Clock;

  constructor(options: BankIdentityOptions) {
    const { material, settings, clock, logger, activity, condition } = options;
    const { certificate, ca } = material;
    this.certificate = certificate;
    this.material = material;
    this.#clock = clock;
    const tls = { key: certificate.keyPem, cert: [certificate.certificatePem, ...certificate.chainPem].join('\n'), ca };
    this.egress = new Egress(settings, tls, logger, activity);
    const ask = () =>
      options.oneAtATime(() => {
        this.assertUsable();
        return requestToken({
          egress: this.egress,
          authUrl: settings.BANK_AUTH_URL,
          credentials: material,
          clock,
          logger,
        });
      });
    const request = options.sharing?.share(ask, material) ?? ask;
    this.tokens = new AccessTokenProvider({ clock, logger, activity, condition, request });
  }

  /** @throws GatewayError certificate-unusable when the certificate has expired or is not yet valid */
  assertUsable(): void {
    const fault = certificateFault(this.certificate, this.#clock.now().wall);
    if (fault) throw new GatewayError('certificate-unusable', fault);
  }

  /** Ends calls in flight too, with `stopping`. */
  close(): void {
    this.egress.close(new GatewayError('stopping', 'This instance is stopping.'));
  }

  /** Lets calls in flight end on their connections, and keeps none afterwards. */
  retire(): void {
    this.egress.retire();
  }
}

/** Why a certificate cannot be used at `nowMs`, in a sentence with the date; null when it can. */
export function certificateFault(
  certificate: Pick<ClientCertificate, 'notBefore' | 'notAfter'>,
  nowMs: number,
): string | null {
  if (nowMs > certificate.notAfter.getTime()) {
    return `The client certificate expired on ${certificate.notAfter.toISOString()}; get a new PFX from the bank.`;
  }
  if (nowMs < certificate.notBefore.getTime()) {
    return `The client certificate is not valid before ${certificate.notBefore.toISOString()}; check the clock of this machine, or wait.`;
  }
  return null;
}
