import type { AccessTokens } from './access-tokens.js';
import type { AccountBook } from '../accounts/account-book.js';
import type { RequestLog } from './request-log.js';
import type { Replay } from '../../recording/replay.js';
import type { Switches } from './switches.js';

/** State shared by the two endpoints and the control port. */
export interface BankState {
  readonly accounts: AccountBook;
  readonly username: string;
  readonly log: RequestLog;
  /** Null for generated accounts. */
  readonly replay: Replay | null;
  readonly seed: number;
  readonly switches: Switches;
  readonly tokens: AccessTokens;
}
