import { GatewayError } from '../problems/gateway-error.js';
import type { ClientCertificate } from '../pfx/client-certificate.js';

type Validity = Pick<ClientCertificate, 'notBefore' | 'notAfter'>;

/** The reason why a certificate cannot be used at `nowMs`, as a sentence with the date; null if it can. */
export function unusableReason({ notBefore, notAfter }: Validity, nowMs: number): string | null {
  if (nowMs > notAfter.getTime()) {
    return `The client certificate expired on ${notAfter.toISOString()}; get a new one from the bank.`;
  }
  if (nowMs < notBefore.getTime()) {
    return `The client certificate is not valid before ${notBefore.toISOString()}; check the clock of this machine, or wait.`;
  }
  return null;
}

/** @throws GatewayError certificate-unusable */
export function assertUsable(certificate: Validity, nowMs: number): void {
  const reason = unusableReason(certificate, nowMs);
  if (reason) throw new GatewayError('certificate-unusable', reason);
}
