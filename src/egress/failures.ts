import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';
import type { Connection } from './connection.js';
import { alertOf, isTlsFailure } from './tls-words.js';

/** A request was not sent, because its `sendBefore` had passed. */
export class TooLateToSend extends Error {}

/** The response has, or declares, more bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {}

/** No connection within the connect deadline. Not retried, like every time-out (docs/architecture.md#every-retry). */
export class ConnectTimedOut extends GatewayError {}

/**
 * A call that failed below HTTP, and how far it got. Must not leave egress: its cause may be an AxiosError, which contains
 * secrets.
 */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** Two full handshakes in a row ended like this, at a host that has never answered this certificate. */
  isRefusal = false;

  constructor(
    cause: unknown,
    /** The status, if the status line had arrived; else null. */
    readonly status: number | null,
    /** True if the connection had served a call before. */
    readonly reusedSocket: boolean,
    /** Null for a call on whose connection TLS never began. */
    readonly connection: Connection | null,
  ) {
    super('the call failed', { cause });
  }

  /** The error and its causes. */
  get causes(): NodeJS.ErrnoException[] {
    const found: Error[] = [];
    for (let error = this.cause; isNativeError(error) && !found.includes(error); error = error.cause) found.push(error);
    return found;
  }

  /** True if the connection was closed, by FIN or RST, before the first byte of the answer. */
  get isClosed(): boolean {
    if (this.status !== null || !this.connection || (this.connection.isAnswered && !this.reusedSocket)) return false;
    const { causes } = this;
    return !causes.some(alertOf) && causes.some(({ code }) => code === 'ECONNRESET' || code === 'EPIPE');
  }

  /** True if a connection ended before the first byte of the answer in whatever way TLS has. */
  get isLost(): boolean {
    return this.isClosed || (this.status === null && this.causes.some(isTlsFailure));
  }

  /** True if the connection was kept from an earlier call, or may have resumed the session of one. */
  get isOfEarlierSuccess(): boolean {
    return (
      this.reusedSocket ||
      (this.connection !== null && this.connection.route.mayResume && !this.connection.isJudgedLate)
    );
  }

  /** True if the handshake got no answer within the connect deadline. */
  get isSilent(): boolean {
    const { connection } = this;
    return connection !== null && !connection.hasArrived && this.causes.some((each) => each instanceof ConnectTimedOut);
  }
}
