import { setImmediate as turn } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import { Egress } from '../egress/egress.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { ClientCertificate } from './pfx/client-certificate.js';
import { AccessTokenProvider } from './access-token-provider.js';
import type { IdentityMaterial } from './identity-material.js';
import { requestToken } from './request-token.js';

/** Dependencies that all identities share. */
export interface IdentityParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
}

/**
 * One certificate with its credentials, its connections and its token. They belong together and are replaced together: the
 * bank ties a token to the certificate it was issued under.
 */
export class BankIdentity {
  readonly egress: Egress;
  readonly tokens: AccessTokenProvider;
  #isRetired = false;

  /**
   * @param material certificate, key, user name, password and trusted roots
   * @param oneAtATime allows one token request at a time, across all identities
   */
  constructor(
    readonly material: IdentityMaterial,
    parts: IdentityParts,
    oneAtATime: LimitFunction = pLimit(1),
  ) {
    const { settings, clock, logger } = parts;
    const { keyPem, certificatePem, chainPem } = material.certificate;
    const tls = { key: keyPem, cert: [certificatePem, ...chainPem].join('\n'), ca: material.ca };
    this.egress = new Egress(settings, tls, material.proxyCa, parts);
    const token = { egress: this.egress, authUrl: settings.BANK_AUTH_URL, material, clock, logger };
    const request = () => {
      const mustWait = oneAtATime.activeCount > 0;
      return oneAtATime(async () => {
        // it may have waited for a proof, whose result is acted on first
        if (mustWait) await turn();
        if (this.#isRetired) throw new GatewayError('stopping', 'Another identity is in use.');
        return requestToken(token);
      });
    };
    this.tokens = new AccessTokenProvider({ ...parts, request });
  }

  get certificate(): ClientCertificate {
    return this.material.certificate;
  }

  /** Closes connections as soon as their calls are done. A token request that waits for another one is not made. */
  retire(): void {
    this.#isRetired = true;
    this.egress.retire();
  }

  /** Also aborts calls in flight, with `stopping`. */
  close(): void {
    this.egress.close(new GatewayError('stopping', 'This instance is stopping.'));
  }
}
