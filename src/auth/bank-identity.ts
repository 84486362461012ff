import { Egress, type EgressParts } from '../egress/egress.js';
import type { ClientCertificate } from './client-certificate.js';
import { AccessTokenProvider, type AccessToken } from './access-token-provider.js';
import type { IdentityMaterial } from './identity-material.js';
import { requestToken } from './request-token.js';

/**
 * One certificate with its credentials, its connections and its token. They are replaced together: the bank ties a token
 * to the certificate it was issued under.
 */
export class BankIdentity {
  readonly egress: Egress;
  readonly tokens: AccessTokenProvider;

  /** @param inTurn runs a token request after any other; by default at once */
  constructor(
    readonly material: IdentityMaterial,
    private readonly parts: EgressParts,
    inTurn: (request: () => Promise<AccessToken>) => Promise<AccessToken> = (request) => request(),
  ) {
    const { keyPem, certificatePem, chainPem } = material.certificate;
    const tls = { key: keyPem, cert: [certificatePem, ...chainPem].join('\n'), ca: material.ca };
    this.egress = new Egress(tls, material.proxyCa, parts);
    this.tokens = new AccessTokenProvider({ ...parts, request: () => inTurn(() => this.requestToken()) });
  }

  /** @throws GatewayError as `requestToken`, or the reason of `signal` */
  requestToken(signal?: AbortSignal): Promise<AccessToken> {
    return requestToken(this.egress, this.material, this.parts, signal);
  }

  get certificate(): ClientCertificate {
    return this.material.certificate;
  }
}
