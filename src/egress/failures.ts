import type { X509Certificate } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';
import type { Stage } from './stage.js';
import { untrustedInWords } from './tls-words.js';

/** A request was not sent, because its `sendBefore` had passed. */
export class TooLateToSend extends Error {}

/** The response has, or declares, more bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {}

/**
 * A call that failed below HTTP, and how far it got. Must not leave egress: its cause may be an AxiosError, which contains
 * secrets.
 */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';

  constructor(
    cause: unknown,
    /** The status, if the status line had arrived; else null. */
    readonly status: number | null,
    /** True if the connection had served a call before. */
    readonly reusedSocket: boolean,
    /** How far its connection had come; null for a call that had none. */
    readonly stage: Stage | null,
  ) {
    super('the call failed', { cause });
  }

  /**
   * True if the connection was closed after the TLS handshake and before the first byte of the answer: on a kept connection
   * because it had been idle for too long, on a fresh one perhaps because of our certificate.
   */
  get closedUnanswered(): boolean {
    const isUnanswered = this.stage === 'open' || this.reusedSocket;
    if (!isUnanswered || this.status !== null || !isNativeError(this.cause)) return false;
    // axios may have wrapped it
    return isClosing(this.cause) || isClosing(this.cause.cause);
  }
}

function isClosing(error: unknown): boolean {
  const { code } = isNativeError(error) ? (error as NodeJS.ErrnoException) : {};
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** The bank's server certificate is not trusted. */
export class BankUntrusted extends GatewayError {
  /** Private, so that no log line shows it. */
  readonly #server: X509Certificate | undefined;

  constructor(address: string, code: string | undefined, server: X509Certificate | undefined) {
    super('bank-untrusted', `The certificate of ${address} is not trusted: ${untrustedInWords(code)}.`);
    this.#server = server;
  }

  /** The certificate that is not trusted; its socket is gone when the error arrives. */
  get server(): X509Certificate | undefined {
    return this.#server;
  }
}

/** No connection within the connect deadline. Not retried, like every time-out (docs/architecture.md#every-retry). */
export class ConnectTimedOut extends GatewayError {}
