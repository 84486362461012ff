import type { BankSettings } from '../settings/settings.js';

export interface BankHost {
  /** Key of its facts: `tokens`, `accounts`, or `bank` when one host is both. */
  readonly name: 'bank' | 'tokens' | 'accounts';
  /** In words, for messages. */
  readonly target: string;
  readonly url: string;
}

/** The hosts of the bank, one or two. */
export function toHosts({ baseUrl, authUrl }: Pick<BankSettings, 'baseUrl' | 'authUrl'>): BankHost[] {
  if (new URL(baseUrl).host === new URL(authUrl).host) return [{ name: 'bank', target: 'the bank', url: baseUrl }];
  return [
    { name: 'tokens', target: 'the token endpoint', url: authUrl },
    { name: 'accounts', target: 'the account list', url: baseUrl },
  ];
}
