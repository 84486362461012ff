import { describe, expect, it } from '@jest/globals';
import { AccountBook } from './account-book.js';

const ids = (text: string): string[] =>
  (JSON.parse(`[${text}]`) as { accountId: string }[]).map(({ accountId }) => accountId);

describe('AccountBook', () => {
  it('cuts pages out of the first so many accounts', () => {
    const book = new AccountBook(1);
    const all = ids(book.page(1, 100, 7, null));
    expect(all).toHaveLength(7);
    expect([1, 2, 3].flatMap((number) => ids(book.page(number, 3, 7, null)))).toEqual(all);
    expect(book.page(4, 3, 7, null)).toBe('');
    expect(book.page(2_147_483_647, 5000, 7, null)).toBe('');
  });

  it('gives the same accounts whatever the count, and in any order of asking', () => {
    const [one, other] = [new AccountBook(5), new AccountBook(5)];
    other.page(3, 10, 1000, null);
    expect(one.page(2, 10, 1000, null)).toBe(other.page(2, 10, 20, null));
    expect(one.page(1, 10, 10, null)).not.toBe(new AccountBook(6).page(1, 10, 10, null));
  });
});
