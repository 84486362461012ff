import { isNativeError } from 'node:util/types';

/** A call that failed below HTTP, and how far it had come. Egress-internal: its cause may be an AxiosError, full of secrets. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** The status line of an answer had arrived. */
  readonly answered: boolean;
  /** The connection had served a call before. */
  readonly reusedSocket: boolean;

  constructor(cause: unknown, { answered, reusedSocket }: { answered: boolean; reusedSocket: boolean }) {
    super('the call failed', { cause });
    this.answered = answered;
    this.reusedSocket = reusedSocket;
  }

  /** The bank, or someone on the way, had closed the kept connection just as it was used again. */
  get diedIdle(): boolean {
    if (!this.reusedSocket || this.answered || !isNativeError(this.cause)) return false;
    const { code } = this.cause as NodeJS.ErrnoException;
    return code === 'ECONNRESET' || code === 'EPIPE';
  }
}
