/** So long work is begun in a row, before everything else has its turn. */
const MAX_ROW_MS = 4;

/**
 * One queue for the work of all callers. What comes is begun at once while there is little of it; else in rows of 4 ms
 * (or of one piece of work that takes longer), with a turn of the event loop between them.
 * Callers take turns at what is new, so that one who asks much does not hold up another; and what is new alternates with
 * what goes on, so that many long answers do not hold up a short one.
 */
export class Turns {
  readonly #new = new Map<string, (() => void)[]>();
  readonly #goingOn: (() => void)[] = [];
  #newIsNext = true;
  #rowSince = 0;
  #awaitsTurn = false;

  /** Begins it now, or when its turn comes. @param caller the address of who asked for it */
  begin(work: () => void, caller: string): void {
    if (this.#isIdle && this.#hasTime()) {
      work();
      return;
    }
    const before = this.#new.get(caller);
    if (before) before.push(work);
    else this.#new.set(caller, [work]);
  }

  /** Resolves when its turn has come, which is not in this turn of the event loop: for work that goes on, or was held up. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#goingOn.push(resolve);
      this.#awaitTurn();
    });
  }

  get #isIdle(): boolean {
    return this.#new.size === 0 && this.#goingOn.length === 0;
  }

  /** Whether more may be begun in this row, or a new one, since the turn before has ended. */
  #hasTime(): boolean {
    const now = performance.now();
    if (now - this.#rowSince < MAX_ROW_MS) return true;
    // the end of a turn is asked for once a row at most: asked for in each, it costs as much as a tenth of a small answer
    if (this.#awaitsTurn) return false;
    this.#rowSince = now;
    this.#awaitTurn();
    return true;
  }

  #awaitTurn(): void {
    if (this.#awaitsTurn) return;
    this.#awaitsTurn = true;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#awaitsTurn = false;
    this.#rowSince = performance.now();
    if (this.#isIdle) return;
    this.#awaitTurn();
    this.#step();
  };

  readonly #step = (): void => {
    const work = performance.now() - this.#rowSince < MAX_ROW_MS ? this.#take() : undefined;
    if (!work) return;
    work();
    // what it went on with in promises counts in: microtasks are all done before the next tick
    queueMicrotask(() => process.nextTick(this.#step));
  };

  #take(): (() => void) | undefined {
    const newIsNext = this.#newIsNext || this.#goingOn.length === 0;
    this.#newIsNext = !newIsNext;
    return (newIsNext && this.#takeNew()) || this.#goingOn.shift();
  }

  #takeNew(): (() => void) | undefined {
    for (const [caller, works] of this.#new) {
      const work = works.shift();
      this.#new.delete(caller);
      if (works.length > 0) this.#new.set(caller, works);
      return work;
    }
    return undefined;
  }
}
