import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import { Egress } from '../egress/egress.js';
import { GatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { ClientCertificate } from '../pfx/client-certificate.js';
import { AccessTokenProvider } from './access-token-provider.js';
import type { IdentityMaterial } from './identity-material.js';
import { requestToken } from './request-token.js';

interface BankIdentityOptions {
  readonly material: IdentityMaterial;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  /** Allows one token request at a time, across all identities. */
  readonly oneAtATime: LimitFunction;
}

/**
 * One certificate with its credentials, its connections and its token. They belong together and are replaced together: the
 * bank ties a token to the certificate it was issued under.
 */
export class BankIdentity {
  /** The material it was built from, including key and password. */
  readonly material: IdentityMaterial;
  readonly egress: Egress;
  readonly tokens: AccessTokenProvider;

  constructor(options: BankIdentityOptions) {
    const { material, settings, clock, logger, activity, oneAtATime } = options;
    const { keyPem, certificatePem, chainPem } = material.certificate;
    this.material = material;
    const tls = { key: keyPem, cert: [certificatePem, ...chainPem].join('\n'), ca: material.ca };
    this.egress = new Egress(settings, tls, { clock, logger, activity });
    const token = { egress: this.egress, authUrl: settings.BANK_AUTH_URL, material, clock, logger };
    const request = () => oneAtATime(() => requestToken(token));
    this.tokens = new AccessTokenProvider({ clock, logger, activity, request });
  }

  get certificate(): ClientCertificate {
    return this.material.certificate;
  }

  /** Also aborts calls in flight, with `stopping`. */
  close(): void {
    this.egress.close(new GatewayError('stopping', 'This instance is stopping.'));
  }
}
