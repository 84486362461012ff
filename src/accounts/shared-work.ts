interface Work<T> {
  readonly result: Promise<T>;
  readonly givenUp: AbortController;
  callers: number;
}

/** Work that several callers wait for: done once for each key, and given up when all of them have left. */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Work<T>>();

  /**
   * The result of the work under way for this key, or else of `begin`, whose signal aborts when the last caller has left.
   * @throws what the work throws; the reason of `caller` when it aborts
   */
  async join(key: string, caller: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    caller.throwIfAborted();
    const work = this.#underWay.get(key) ?? this.#begin(key, begin);
    work.callers += 1;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const onAbort = () => {
      work.callers -= 1;
      if (work.callers === 0) this.#giveUp(key, work, caller.reason);
      reject(caller.reason);
    };
    caller.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([work.result, left]);
    } finally {
      caller.removeEventListener('abort', onAbort);
    }
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<T>): Work<T> {
    const givenUp = new AbortController();
    const result = begin(givenUp.signal).finally(() => {
      if (this.#underWay.get(key) === work) this.#underWay.delete(key);
    });
    // every caller may have left
    result.catch(() => undefined);
    const work = { result, givenUp, callers: 0 };
    this.#underWay.set(key, work);
    return work;
  }

  /** A later caller starts new work. */
  #giveUp(key: string, work: Work<T>, reason: unknown): void {
    this.#underWay.delete(key);
    work.givenUp.abort(reason);
  }
}
