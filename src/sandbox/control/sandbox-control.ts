import type { BankState } from '../service/bank-state.js';
import { checkPatch, type PatchResult } from './control-patch.js';

const SHOWN_REQUESTS = 100;

/** The switches of a running sandbox (docs/sandbox.md#its-switches), whatever the way in. */
export class SandboxControl {
  readonly #bank: BankState;
  readonly #onReset: () => void;

  /** @param onReset is called when somebody sets all switches back */
  constructor(bank: BankState, onReset: () => void) {
    this.#bank = bank;
    this.#onReset = onReset;
  }

  /** The present state. */
  get state() {
    const { log, seed, switches, tokens } = this.#bank;
    return {
      ...switches.values,
      seed,
      failNext: switches.faults.pending(),
      tokensIssued: tokens.count,
      handshakesFailed: log.handshakesFailed,
    };
  }

  /** The last requests that the bank saw, oldest first, without secrets. */
  get lastRequests() {
    return this.#bank.log.all.slice(-SHOWN_REQUESTS);
  }

  /** Takes what was parsed of a patch whole or, with every fault named, not at all. */
  patch(value: unknown): PatchResult {
    const result = checkPatch(value);
    if (result.good) this.#bank.switches.apply(result.patch);
    return result;
  }

  /** Sets all switches back to what they were at start. */
  reset(): void {
    this.#bank.switches.reset();
    this.#onReset();
  }
}
