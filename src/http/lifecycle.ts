type Stage = 'serving' | 'leaving' | 'draining' | 'over';

/** Where the process is on its way from start to stop; read by readiness and by the door. */
export class Lifecycle {
  #stage: Stage = 'serving';
  readonly #onDrain: (() => void)[] = [];
  readonly #onEnd: (() => void)[] = [];

  /** Not ready any more, but still serving, so that a balancer can look away. */
  leave(): void {
    if (this.#stage === 'serving') this.#stage = 'leaving';
  }

  /** Calls in flight end, connections are closed after their answer. */
  drain(): void {
    if (this.draining) return;
    this.#stage = 'draining';
    for (const listener of this.#onDrain) listener();
  }

  /** What is left is cut off. */
  end(): void {
    if (this.#stage === 'over') return;
    this.#stage = 'over';
    for (const listener of this.#onEnd) listener();
  }

  onDrain(listener: () => void): void {
    this.#onDrain.push(listener);
  }

  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  get stopping(): boolean {
    return this.#stage !== 'serving';
  }

  get draining(): boolean {
    return this.#stage === 'draining' || this.#stage === 'over';
  }
}
