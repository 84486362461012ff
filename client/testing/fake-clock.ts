/** The platform's clocks plus the time added by `advance`, so that fake timers move it too. */
export class FakeClock {
  #offsetMs = 0;
  readonly #waiting = new Set<() => void>();

  constructor(private readonly start: number | null) {
    this.reset();
  }

  /** Wall clock, ms since 1970. */
  get wall(): number {
    return Date.now() + this.#offsetMs;
  }

  get monotonic(): number {
    return performance.now() + this.#offsetMs;
  }

  advance(ms: number): void {
    this.#offsetMs += ms;
    for (const check of this.#waiting) check();
  }

  reset(): void {
    this.#offsetMs = this.start === null ? 0 : this.start - Date.now();
  }

  /** Waits, unless `advance` skips it. @throws the signal's reason */
  wait(ms: number, signal: AbortSignal | null): Promise<void> {
    const end = this.monotonic + ms;
    return new Promise((resolve, reject) => {
      const finish = (error?: unknown) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(error as Error);
      };
      const check = () => {
        if (this.monotonic >= end) finish();
      };
      const onAbort = () => finish(signal?.reason);
      const timer = setTimeout(finish, Math.max(ms, 0));
      this.#waiting.add(check);
      signal?.addEventListener('abort', onAbort);
    });
  }
}
