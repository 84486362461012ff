import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import type { Settings } from '../config/settings.js';
import { AnswerTooLarge, type CallFailed } from './failures.js';
import type { Stage } from './stage.js';
import { alertOf, handshakeInWords, refusalInWords } from './tls-words.js';

/** The circumstances of a call that failed below HTTP. */
export interface FailureContext {
  /** The other side in words, for messages: "the token endpoint", "the account list". */
  readonly target: string;
  /** True if the deadline of the whole call had passed. */
  readonly timedOut: boolean;
  readonly settings: Pick<Settings, 'BANK_REQUEST_TIMEOUT_MS' | 'BANK_MAX_RESPONSE_BYTES'>;
}

/**
 * Turns what went wrong on the wire into a GatewayError. Judged by how far the connection came and by the number of a TLS
 * alert, since the names of such errors differ between versions of Node. The cause is dropped, because an AxiosError
 * carries password, token and body.
 */
export function toWireError(failure: CallFailed, context: FailureContext): GatewayError {
  const { target, timedOut, settings } = context;
  const chain = causesOf(failure.cause);
  const known = chain.find((error) => error instanceof GatewayError);
  if (known) return known;
  const fail = (code: ProblemCode, detail: string) => new GatewayError(code, detail.replace(/^the /, 'The '));

  const alert = chain.map(alertOf).find((each) => each !== null) ?? null;
  const refusal = alert && refusalInWords(alert);
  if (refusal) return fail('certificate-rejected', `${target} refused our client certificate: ${refusal}.`);
  if (timedOut) return toLate(failure, context);
  if (chain.some((error) => error instanceof AnswerTooLarge)) {
    return fail(
      'bank-response-invalid',
      `The response from ${target} is larger than ${settings.BANK_MAX_RESPONSE_BYTES} bytes (BANK_MAX_RESPONSE_BYTES).`,
    );
  }
  // axios adds its own
  const code = chain.map((error) => error.code).find((each) => each && !/^ERR_(BAD|NETWORK|CANCELED)/.test(each));
  const isReset = chain.some((error) => error.syscall === 'read' && error.code === 'ECONNRESET');
  if (code?.startsWith('HPE_') || (failure.status !== null && !isReset)) {
    const reason = code ? ` (${code})` : '';
    return fail(
      'bank-response-invalid',
      `The response from ${target} is not valid HTTP, was cut off, or could not be decompressed${reason}.`,
    );
  }
  if (failure.closedUnanswered && !failure.reusedSocket) {
    return fail(
      'certificate-rejected',
      `${target} closed two connections in a row after the TLS handshake and before any answer; most likely it refused our client certificate, because it is unknown or expired, or its chain is missing from the file. An address that is not on the bank's allowlist can have the same effect.`,
    );
  }
  const reason =
    chain.map(toUnboundReason).find(Boolean) ?? REASONS[code ?? ''] ?? toReason(failure.stage, alert, code);
  const trace = alert === null ? code : `TLS alert ${alert}`;
  return fail('bank-unreachable', `${reason} (${target}${trace ? `, ${trace}` : ''}).`);
}

/** The deadline of the whole call has passed. Without a connection it is the network that did not answer. */
function toLate(
  { stage }: CallFailed,
  { target, settings: { BANK_REQUEST_TIMEOUT_MS: ms } }: FailureContext,
): GatewayError {
  if (stage !== 'DNS' && stage !== 'TCP') {
    return new GatewayError(
      'bank-timeout',
      `${target.replace(/^the /, 'The ')} gave no complete answer within ${ms} ms.`,
    );
  }
  const what = stage === 'DNS' ? 'DNS did not resolve the name of the bank' : 'There was no TCP connection to the bank';
  return new GatewayError('bank-unreachable', `${what} within ${ms} ms (${target}).`);
}

/** The reason when the source address of a call could not be bound; undefined for any other error. */
export function toUnboundReason({ code, syscall, address }: NodeJS.ErrnoException & { address?: string }) {
  if (code !== 'EADDRNOTAVAIL' || syscall !== 'bind') return undefined;
  return `EGRESS_LOCAL_ADDRESS (${address}) is not an address of this machine`;
}

/** Explanations of the runtime's error codes that belong to one stage. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The bank refused the TCP connection',
  ENOTFOUND: 'DNS could not resolve the name of the bank',
  EAI_AGAIN: 'DNS could not resolve the name of the bank',
  EHOSTUNREACH: 'There is no route for a TCP connection to the bank',
  ENETUNREACH: 'There is no route for a TCP connection to the bank',
  EADDRNOTAVAIL: 'There is no route for a TCP connection to the bank',
  ETIMEDOUT: 'The bank accepted no TCP connection',
};

/** Explains any other failure by how far the connection got. */
function toReason(stage: Stage | null, alert: string | null, code: string | undefined): string {
  const isClosed = code === 'ECONNRESET' || code === 'EPIPE';
  const isTls = alert !== null || code === 'EPROTO' || code?.startsWith('ERR_SSL');
  if (stage === 'DNS') return 'DNS could not resolve the name of the bank';
  if (stage === 'TCP') return 'The TCP connection to the bank failed';
  if (stage === 'TLS' && isClosed) return 'The bank closed the connection before the TLS handshake was finished';
  if (stage === 'TLS' || isTls) {
    const words = handshakeInWords(alert, code);
    return `The TLS handshake with the bank failed${words ? `: ${words}` : ''}`;
  }
  return isClosed
    ? 'The bank closed the connection before its answer was complete'
    : 'The connection to the bank failed';
}

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
