import type { Account } from './account.js';
import type { Pause } from './pause.js';

/** One value of every account, without letter case, as a small number; 0 stands for null. */
export interface ValueColumn {
  readonly codes: Uint32Array;
  readonly codeOf: ReadonlyMap<string, number>;
}

export const foldValue = (text: string): string => text.toUpperCase();

export async function buildValueColumn(
  valueOf: (account: Account) => string | null,
  accounts: readonly Account[],
  pause: Pause,
): Promise<ValueColumn> {
  const codes = new Uint32Array(accounts.length);
  const codeOf = new Map<string, number>();
  for (let position = 0; position < accounts.length; position++) {
    if (position % 1024 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    const value = valueOf(accounts[position] as Account);
    if (value === null) continue;
    const folded = foldValue(value);
    let code = codeOf.get(folded);
    if (code === undefined) codeOf.set(folded, (code = codeOf.size + 1));
    codes[position] = code;
  }
  return { codes, codeOf };
}
