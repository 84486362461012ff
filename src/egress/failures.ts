import type { X509Certificate } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';

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
    readonly status: number | null = null,
    /** True if the connection had served a call before. */
    readonly reusedSocket = false,
  ) {
    super('the call failed', { cause });
  }

  /** The bank, or someone on the way, had closed the kept connection just as it was used again. */
  get diedIdle(): boolean {
    if (!this.reusedSocket || this.status !== null || !isNativeError(this.cause)) return false;
    const { code } = this.cause as NodeJS.ErrnoException;
    return code === 'ECONNRESET' || code === 'EPIPE';
  }
}

/** The bank's server certificate is not trusted. */
export class BankUntrusted extends GatewayError {
  /** Private, so that no log line shows it. */
  readonly #server: X509Certificate | undefined;

  constructor(address: string, code: string | undefined, server: X509Certificate | undefined) {
    super('bank-untrusted', `The certificate of ${address} is not trusted${code ? ` (${code})` : ''}.`);
    this.#server = server;
  }

  /** The certificate that is not trusted; its socket is gone when the error arrives. */
  get server(): X509Certificate | undefined {
    return this.#server;
  }
}

/** No connection within the connect deadline. Not retried, like every time-out (docs/architecture.md#every-retry). */
export class ConnectTimedOut extends GatewayError {}
