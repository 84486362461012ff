import type { BankIdentity } from '../../auth/bank-identity.js';
import { toGatewayError } from '../../errors/gateway-error.js';
import { problemOf, StepFailed } from './steps.js';

/** The refusals of a bank that asks for the certificate after the handshake, which TLS 1.3 does not allow. */
const MAY_BE_LATE = new Set(['certificate-rejected', 'address-not-allowed']);

/**
 * Tries TLS 1.2 once where our certificate seems refused over TLS 1.3. Returns what to report: the failure, with what TLS 1.2 gave.
 * @param older an identity that speaks TLS 1.2 at most
 */
export async function explainByOlderTls(thrown: unknown, older: BankIdentity): Promise<unknown> {
  const { code, owner, detail } = toGatewayError(thrown);
  if (!MAY_BE_LATE.has(code)) return thrown;
  const failure = await older.tokens.get().then(() => null, toGatewayError);
  older.egress.retire();
  if (failure) {
    const gave = failure.code === code ? `the same (${code}).` : `${failure.code}: ${failure.detail}`;
    return new StepFailed({ ...problemOf(code, `${detail} TLS 1.2 was tried once and gave ${gave}`), owner });
  }
  const problem = `${detail} Over TLS 1.2 the bank accepts the certificate and issues a token: it asks for the certificate after the handshake.`;
  return new StepFailed({ code, owner, problem, remedy: 'Set BANK_TLS_MAX_VERSION=1.2, and restart the gateway.' });
}
