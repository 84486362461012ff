import type { BankIdentity } from '../../auth/bank-identity.js';
import { isSkewed } from '../../egress/http-date.js';
import { toGatewayError } from '../../errors/gateway-error.js';
import { describeSkew } from '../status/judge-health.js';
import { problemOf, StepFailed, type Findings } from './steps.js';

/** Requests a token, and compares the clocks. @throws GatewayError as `AccessTokenProvider.get` */
export async function checkToken({ tokens, egress }: BankIdentity, findings: Findings): Promise<void> {
  const { lifetimeMs } = await tokens.get();
  findings.facts['lifetimeSeconds'] = lifetimeMs / 1000;
  const { clockSkewMs } = egress;
  if (clockSkewMs === null) return;
  findings.facts['clockSkewSeconds'] = Math.round(clockSkewMs / 1000);
  if (isSkewed(clockSkewMs)) findings.warning = problemOf('clock-skewed', describeSkew(clockSkewMs));
}

/** Rejections by a bank that requests the certificate after the handshake, which Node cannot do over TLS 1.3. */
const MAY_BE_LATE = new Set(['certificate-rejected', 'address-not-allowed']);

/** The failure to report, after TLS 1.2 (`older`) was tried once if our certificate or address seems rejected over TLS 1.3. */
export async function explainByOlderTls(thrown: unknown, older: BankIdentity): Promise<unknown> {
  const error = toGatewayError(thrown);
  const { code, owner, detail } = error;
  if (!MAY_BE_LATE.has(code)) return thrown;
  const failure = await older.tokens.get().then(() => null, toGatewayError);
  older.egress.retire();
  if (failure) {
    const gave = failure.code === code ? `the same (${code}).` : `${failure.code}: ${failure.detail}`;
    return error.withSentence(`TLS 1.2 was tried once and gave ${gave}`);
  }
  const problem = `${detail} Over TLS 1.2 the bank accepts the certificate and issues a token: it asks for the certificate after the handshake.`;
  return new StepFailed({ code, owner, problem, remedy: 'Set BANK_TLS_MAX_VERSION=1.2, and restart the gateway.' });
}
