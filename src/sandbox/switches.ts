import type { AccessTokens } from './access-tokens.js';
import type { SwitchPatch } from './control/control-patch.js';
import { FaultQueue } from './faults.js';
import { createAllowlist, type Allowlist } from './allowlist.js';

/** The switches with a value. */
interface SwitchValues {
  readonly latencyMs: number;
  readonly tokenLifetimeSeconds: number;
  readonly grantAccess: boolean;
  readonly allowedIps: readonly string[];
  readonly accounts: number;
  readonly movement: boolean;
}

/** How the sandbox behaves at this moment. The control port changes it, the service reads it at every request. */
export class Switches {
  readonly faults = new FaultQueue();
  readonly #start: SwitchValues;
  readonly #tokens: AccessTokens;
  #values: SwitchValues;
  #allowlist: Allowlist;
  #movingSince: number | null = null;

  /** Throws if `allowedIps` holds something that is no address and no CIDR. */
  constructor(start: SwitchValues, tokens: AccessTokens) {
    this.#start = start;
    this.#tokens = tokens;
    this.#values = start;
    this.#allowlist = createAllowlist(start.allowedIps);
  }

  get values(): SwitchValues {
    return this.#values;
  }

  admits(address: string): boolean {
    return this.#allowlist.admits(address);
  }

  /** For how many whole seconds balances have been moving; null while they do not. */
  movingSeconds(): number | null {
    return this.#movingSince === null ? null : Math.floor((performance.now() - this.#movingSince) / 1000);
  }

  /** Sets what the patch names. It must have been checked: nothing is changed by half. */
  apply({ failNext, revokeTokens, ...patch }: SwitchPatch): void {
    const named = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    this.#set({ ...this.#values, ...named });
    if (failNext) this.faults.add(failNext);
    if (revokeTokens) this.#tokens.revokeAll();
  }

  /** Back to the settings of the start: no faults waiting, no token revoked. */
  reset(): void {
    this.#set(this.#start);
    this.faults.clear();
    this.#tokens.pardonAll();
  }

  #set(values: SwitchValues): void {
    this.#allowlist = createAllowlist(values.allowedIps);
    this.#movingSince = values.movement ? (this.#movingSince ?? performance.now()) : null;
    this.#values = values;
  }
}
