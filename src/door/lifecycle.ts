/** Where the process is on its way from start to stop; read by readiness and by the door. */
export class Lifecycle {
  #stage: 'serving' | 'leaving' | 'draining' = 'serving';

  /** Not ready any more, but still serving, so that a balancer can look away. */
  leave(): void {
    if (this.#stage === 'serving') this.#stage = 'leaving';
  }

  /** Calls in flight end, connections are closed after their answer. */
  drain(): void {
    this.#stage = 'draining';
  }

  get stopping(): boolean {
    return this.#stage !== 'serving';
  }

  get draining(): boolean {
    return this.#stage === 'draining';
  }
}
