import { Egress, type EgressParts } from '../egress/egress.js';
import type { ClientCertificate } from './client-certificate.js';
import type { AccessToken } from './access-token.js';
import { AccessTokenProvider } from './access-token-provider.js';
import type { IdentityMaterial } from './identity-material.js';
import { requestToken } from './request-token.js';

/**
 * One certificate with its credentials, its connections and its token. They belong together and are replaced together: the
 * bank ties a token to the certificate it was issued under.
 */
export class BankIdentity {
  readonly egress: Egress;
  readonly tokens: AccessTokenProvider;

  /**
   * @param material certificate, key, user name, password and trusted roots
   * @param inTurn runs a token request when its turn comes; by default at once
   * @param isInUse false while another identity is in use
   */
  constructor(
    readonly material: IdentityMaterial,
    parts: EgressParts,
    inTurn: (request: () => Promise<AccessToken>) => Promise<AccessToken> = (request) => request(),
    isInUse: () => boolean = () => true,
  ) {
    const { keyPem, certificatePem, chainPem } = material.certificate;
    const tls = { key: keyPem, cert: [certificatePem, ...chainPem].join('\n'), ca: material.ca };
    this.egress = new Egress(tls, material.proxyCa, parts);
    this.tokens = new AccessTokenProvider({
      ...parts,
      isInUse,
      request: () => inTurn(() => requestToken(this.egress, material, parts)),
    });
  }

  get certificate(): ClientCertificate {
    return this.material.certificate;
  }
}
