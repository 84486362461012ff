import { GatewayError } from '../problems/gateway-error.js';
import type { ClientCertificate } from '../pfx/client-certificate.js';

type Validity = Pick<ClientCertificate, 'notBefore' | 'notAfter'>;

/** The error `certificate-unusable`, with the date, for a certificate that cannot be used at `nowMs`; null if it can. */
export function validityError({ notBefore, notAfter }: Validity, nowMs: number): GatewayError | null {
  if (nowMs > notAfter.getTime()) {
    const detail = `The client certificate expired on ${notAfter.toISOString()}; get a new one from the bank.`;
    return new GatewayError('certificate-unusable', detail);
  }
  if (nowMs < notBefore.getTime()) {
    const detail = `The client certificate is not valid before ${notBefore.toISOString()}; check the clock of this machine, or wait.`;
    return new GatewayError('certificate-unusable', detail);
  }
  return null;
}
