import { GatewayError } from '../problems/gateway-error.js';
import { PROBLEMS, type Owner } from '../problems/problem-table.js';
import type { DoctorCode, StepName } from './report.js';

/** A step of the doctor failed. Says who must act, and what to do. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  constructor(
    readonly code: DoctorCode,
    readonly owner: Owner,
    readonly problem: string,
    readonly remedy: string,
    /** The step that failed, if a later step detected it: under TLS 1.3 a refusal arrives after the handshake. */
    readonly step?: StepName,
  ) {
    super(problem);
  }
}

/** The failure of `step` as the doctor reports it. An unexpected error is reported without its message, which may quote data. */
export function toStepFailed(thrown: unknown, step: StepName): StepFailed {
  if (thrown instanceof StepFailed) return thrown;
  if (thrown instanceof GatewayError && thrown.code !== 'internal-error') {
    return new StepFailed(thrown.code, thrown.owner, thrown.detail, remedyFor(step, thrown));
  }
  const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
  const error = cause instanceof Error ? cause : new Error();
  const place = error.stack?.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return new StepFailed(
    'internal-error',
    'operator',
    `An internal error of the gateway: ${error.name}${place.replace(/\s+/, ' ')}.`,
    'Report this text and the version to the maintainers of the gateway.',
  );
}

/** The remedy of the problem table, except where that one counts on the gateway to retry, or sends the reader to the doctor. */
export function remedyFor(step: StepName, { code }: GatewayError): string {
  const service = step === 'token' ? 'token service' : 'account service';
  switch (code) {
    case 'bank-error':
      return `Ask the bank whether its ${service} is up, with the time and the problem above. DNS, connection, TLS and certificate are fine.`;
    case 'bank-timeout':
      return `Ask the bank whether its ${service} is slow or down, with the time; the connection to it is fine. If it is only slow, raise BANK_REQUEST_TIMEOUT_MS, or request smaller pages with BANK_PAGE_SIZE.`;
    case 'bank-response-invalid':
      return `Check that ${step === 'token' ? 'BANK_AUTH_URL (when it is not set, BANK_BASE_URL)' : 'BANK_BASE_URL'} leads to the ${service} itself: a portal or a proxy may answer in its place. If it does, report the time and the problem above to the bank, and ask what has changed. If the answer is too large, lower BANK_PAGE_SIZE or raise BANK_MAX_RESPONSE_BYTES.`;
    case 'bank-rate-limited':
      return 'Wait some minutes and run the doctor again. Ask the bank for its limit, and look for other programs that use the same M2M user.';
    default:
      return PROBLEMS[code].remedy;
  }
}
