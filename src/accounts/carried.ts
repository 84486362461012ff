import type { Account } from './account.js';

/** What was made for the reading before, and how its accounts stand in the new one. */
export interface Carried<T> {
  readonly value: T;
  readonly accounts: readonly Account[];
  /** For each old position the new one; -1 for an account that is gone. */
  readonly moved: Int32Array;
}
