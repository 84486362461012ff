import type { BankState } from '../state/bank-state.js';
import type { ControlPatch } from './control-patch.js';

const MAX_LISTED_REQUESTS = 100;

/** The switches of a running sandbox (docs/sandbox.md#its-switches), for its control port and for the gateway's page. */
export class SandboxControl {
  readonly #bank: BankState;
  readonly #onReset: () => void;

  /** @param onReset called when all switches are reset */
  constructor(bank: BankState, onReset: () => void) {
    this.#bank = bank;
    this.#onReset = onReset;
  }

  /** The current state, without the password. */
  get state() {
    const { log, seed, switches, tokens } = this.#bank;
    const { password, ...shown } = switches.values;
    return {
      ...shown,
      passwordChanged: password !== switches.start.password,
      seed,
      tokensIssued: tokens.count,
      handshakesFailed: log.handshakesFailed,
    };
  }

  /** The last requests received by the bank, oldest first, without secrets. */
  get lastRequests() {
    return this.#bank.log.all.slice(-MAX_LISTED_REQUESTS);
  }

  /** Applies a checked patch. */
  patch({ revokeTokens, ...change }: ControlPatch): void {
    this.#bank.switches.set(change);
    if (revokeTokens) this.#bank.tokens.revokeAll();
  }

  /** Resets all switches to the initial settings, and undoes all token revocations. */
  reset(): void {
    this.#bank.switches.reset();
    this.#bank.tokens.pardonAll();
    this.#onReset();
  }
}
