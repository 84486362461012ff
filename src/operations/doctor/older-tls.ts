import type { BankIdentity } from '../../auth/bank-identity.js';
import { toGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import { remedyOf } from '../../errors/problem-table.js';
import { StepFailed } from './steps.js';

/** The refusals of a bank that asks for the certificate after the handshake, which TLS 1.3 does not allow. */
const MAY_BE_LATE = new Set(['certificate-rejected', 'address-not-allowed']);

/**
 * Tries TLS 1.2 once where our certificate seems refused over TLS 1.3. Returns what to report: the failure, with what TLS 1.2 gave.
 * @param createOlder an identity that speaks TLS 1.2 at most
 */
export async function explainByOlderTls(thrown: unknown, createOlder: () => BankIdentity): Promise<unknown> {
  const failure = toGatewayError(thrown);
  const { code, owner, detail } = failure;
  if (!MAY_BE_LATE.has(code)) return thrown;
  const older = createOlder();
  const result = await older.tokens.get().then(() => null, toGatewayError);
  older.egress.retire();
  if (result) return new StepFailed(code, owner, `${detail} ${toSame(failure, result)}`, remedyOf(code));
  const problem = `${detail} Over TLS 1.2 the bank accepts the certificate and issues a token: it asks for the certificate after the handshake.`;
  return new StepFailed(code, owner, problem, 'Set BANK_TLS_MAX_VERSION=1.2, and restart the gateway.');
}

function toSame(failure: GatewayError, { code, detail }: GatewayError): string {
  return code === failure.code
    ? `TLS 1.2 was tried once and gave the same (${code}).`
    : `TLS 1.2 was tried once and gave ${code}: ${detail}`;
}
