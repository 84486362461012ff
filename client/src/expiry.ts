/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Reports once that a time has passed, by either clock: one of them stops while a laptop sleeps. A clock that is set
 * forward makes it report early.
 */
export class Expiry {
  readonly #onExpired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: { readonly wall: number; readonly monotonic: number } | null = null;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** Sets another time; null for none. */
  set(ms: number | null): void {
    clearTimeout(this.#timer);
    this.#end = ms === null ? null : { wall: Date.now() + ms, monotonic: performance.now() + ms };
    if (ms === null) return;
    this.#timer = setTimeout(() => this.check(), Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    // a Node process must not stay alive for it
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Reports an expiry that no timer has noticed yet. */
  check(): void {
    if (this.#end === null) return;
    const left = Math.min(this.#end.wall - Date.now(), this.#end.monotonic - performance.now());
    if (left > 0) this.set(left);
    else this.end();
  }

  /** Reports the expiry now, unless it was already reported or there is none. */
  end(): void {
    if (this.#end === null) return;
    this.set(null);
    this.#onExpired();
  }
}
