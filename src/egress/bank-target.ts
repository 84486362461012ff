/** The two endpoints of the bank. */
export type BankTarget = 'token' | 'accounts';

/** The endpoints in words, for messages. */
export const NAMES: Readonly<Record<BankTarget, string>> = {
  token: 'the token endpoint',
  accounts: 'the account list',
};
