import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import type { Settings } from '../config/settings.js';
import { AnswerTooLarge, type CallFailed } from './failures.js';

/** The circumstances of a call that failed below HTTP. */
export interface FailureContext {
  /** The other side in words, for messages: "the token endpoint", "the account list". */
  readonly target: string;
  /** True if the deadline of the whole call had passed. */
  readonly timedOut: boolean;
  /** True if the bank has answered before with this client certificate. */
  readonly everAnswered: boolean;
  readonly settings: Pick<Settings, 'BANK_REQUEST_TIMEOUT_MS' | 'BANK_MAX_RESPONSE_BYTES'>;
}

/** TLS alerts with which a server refuses the client's certificate (RFC 8446 §6.2). */
const CERTIFICATE_ALERTS = new Set(['40', '42', '43', '44', '45', '46', '47', '48', '116']);

/**
 * Turns what went wrong on the wire into a GatewayError. Judged by TLS alert number and by what had happened before,
 * since the names of such errors differ between versions of Node. The cause is dropped, because an AxiosError
 * carries password, token and body.
 */
export function toWireError(failure: CallFailed, context: FailureContext): GatewayError {
  const { target, timedOut, everAnswered, settings } = context;
  const answered = failure.status !== null;
  const chain = causesOf(failure.cause);
  const unconnected = chain.find((error) => error instanceof GatewayError);
  if (unconnected) return unconnected;
  const fail = (code: ProblemCode, detail: string) => new GatewayError(code, detail.replace(/^the /, 'The '));

  const alert = chain.map(({ message }) => /SSL alert number (\d+)/.exec(message)?.[1]).find(Boolean);
  if (alert !== undefined && CERTIFICATE_ALERTS.has(alert)) {
    return fail('certificate-rejected', `${target} refused our client certificate (TLS alert ${alert}).`);
  }
  if (timedOut) {
    return fail('bank-timeout', `${target} gave no complete answer within ${settings.BANK_REQUEST_TIMEOUT_MS} ms.`);
  }
  if (chain.some((error) => error instanceof AnswerTooLarge)) {
    return fail(
      'bank-response-invalid',
      `The response from ${target} is larger than ${settings.BANK_MAX_RESPONSE_BYTES} bytes (BANK_MAX_RESPONSE_BYTES).`,
    );
  }
  // axios adds its own
  const code = chain.map((error) => error.code).find((each) => each && !/^ERR_(BAD|NETWORK|CANCELED)/.test(each));
  const reset = chain.some((error) => error.syscall === 'read' && error.code === 'ECONNRESET');
  if (code?.startsWith('HPE_') || (answered && !reset)) {
    const reason = code ? ` (${code})` : '';
    return fail(
      'bank-response-invalid',
      `The response from ${target} is not valid HTTP, was cut off, or could not be decompressed${reason}.`,
    );
  }
  if ((code === 'ECONNRESET' || code === 'EPIPE') && !answered && !failure.reusedSocket && !everAnswered) {
    return fail(
      'certificate-rejected',
      `${target} closed the connection before its first answer; most likely it refused our client certificate: unknown, expired, or its chain is missing in the PFX. An address that is not on the allowlist of the bank can look the same.`,
    );
  }
  const unbound = chain.map(toUnboundReason).find(Boolean);
  const isTls = alert !== undefined || code === 'EPROTO' || code?.startsWith('ERR_SSL');
  const reason =
    unbound ?? REASONS[code ?? ''] ?? (isTls ? 'The TLS handshake failed' : 'The connection to the bank failed');
  const trace = alert === undefined ? code : `TLS alert ${alert}`;
  return fail('bank-unreachable', `${reason} (${target}${trace ? `, ${trace}` : ''}).`);
}

/** The reason when the source address of a call could not be bound; undefined for any other error. */
export function toUnboundReason({ code, syscall, address }: NodeJS.ErrnoException & { address?: string }) {
  if (code !== 'EADDRNOTAVAIL' || syscall !== 'bind') return undefined;
  return `EGRESS_LOCAL_ADDRESS (${address}) is not an address of this machine`;
}

/** Explanations of the runtime's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The bank refused the connection',
  ENOTFOUND: 'The name of the bank could not be resolved',
  EAI_AGAIN: 'The name of the bank could not be resolved',
  ECONNRESET: 'The bank closed the connection',
  EPIPE: 'The bank closed the connection',
  EHOSTUNREACH: 'There is no route to the bank',
  ENETUNREACH: 'There is no route to the bank',
  EADDRNOTAVAIL: 'There is no route to the bank',
  ETIMEDOUT: 'The bank did not accept the connection',
};

/** The error and its causes; the attempts of a dual-stack connect too. */
function causesOf(thrown: unknown): NodeJS.ErrnoException[] {
  const found: Error[] = [];
  const visit = (error: unknown) => {
    if (!isNativeError(error) || found.includes(error) || found.length > 20) return;
    found.push(error);
    visit(error.cause);
    if ('errors' in error && Array.isArray(error.errors)) error.errors.forEach(visit);
  };
  visit(thrown);
  return found;
}
