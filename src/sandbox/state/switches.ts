import { Allowlist } from './allowlist.js';
import { MAX_QUEUED_FAULTS, type Endpoint, type Fault, type QueuedFault } from './faults.js';

/**
 * What an address gets that is not on the allowlist: a 403, or, as from a firewall in front of the bank, a reset or
 * nothing before TLS begins.
 */
export const TO_UNLISTED = ['403', 'reset', 'drop'] as const;

/** Switches that have a value. */
interface SwitchValues {
  readonly latencyMs: number;
  readonly tokenLifetimeSeconds: number;
  readonly grantAccess: boolean;
  readonly allowedIps: readonly string[];
  readonly unlisted: (typeof TO_UNLISTED)[number];
  readonly accounts: number;
  readonly movement: boolean;
  /** A secret, never shown. */
  readonly password: string;
  /** Pending failures, oldest first. */
  readonly failNext: readonly QueuedFault[];
}

/** The current behavior of the sandbox. `SandboxControl` changes it; the service reads it at every request. */
export class Switches {
  /** The initial settings. */
  readonly start: SwitchValues;
  #values: SwitchValues;
  #allowlist: Allowlist;
  #movingSince: number | null = null;

  /** @throws Error if `allowedIps` contains something other than addresses and CIDRs */
  constructor(start: SwitchValues) {
    this.start = start;
    this.#values = start;
    this.#allowlist = new Allowlist(start.allowedIps);
  }

  get values(): SwitchValues {
    return this.#values;
  }

  admits(address: string): boolean {
    return this.#allowlist.admits(address);
  }

  /** Whole seconds since balances began to change; null while they do not. */
  movingSeconds(): number | null {
    return this.#movingSince === null ? null : Math.floor((performance.now() - this.#movingSince) / 1000);
  }

  /** Takes the next pending failure of that endpoint; null without one. */
  takeFault(endpoint: Endpoint): Fault | null {
    const { failNext } = this.#values;
    const at = failNext.findIndex((queued) => queued.endpoint === endpoint);
    const queued = failNext[at];
    if (!queued) return null;
    const left = queued.times > 1 ? [{ ...queued, times: queued.times - 1 }] : [];
    this.#values = { ...this.#values, failNext: failNext.toSpliced(at, 1, ...left) };
    return queued.with;
  }

  /** Sets the given switches; appends `failNext` to the pending failures. */
  set({ failNext = [], ...change }: Partial<SwitchValues>): void {
    this.#replace({
      ...this.#values,
      ...change,
      failNext: [...this.#values.failNext, ...failNext].slice(-MAX_QUEUED_FAULTS),
    });
  }

  /** Restores the initial settings. */
  reset(): void {
    this.#replace(this.start);
  }

  #replace(values: SwitchValues): void {
    this.#allowlist = new Allowlist(values.allowedIps);
    this.#movingSince = values.movement ? (this.#movingSince ?? performance.now()) : null;
    this.#values = values;
  }
}
