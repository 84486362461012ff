import { goesDirect } from '../egress/route.js';
import type { Settings } from '../config/settings.js';
import { StepFailed } from './step-failed.js';

/** A host of the bank, as the doctor's messages describe it. */
export interface BankHost {
  /** Key of its facts: `tokens`, `accounts`, or `bank` when one host is both. */
  readonly name: 'bank' | 'tokens' | 'accounts';
  /** The setting that names it. */
  readonly variable: string;
  readonly url: string;
  /** Host and port: `api.bank.example:443`. */
  readonly address: string;
  /** The proxy on the way to it, or null. */
  readonly proxy: URL | null;
  /** The host that this machine connects to: the bank's or the proxy's; IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** The hosts of the bank, one or two, and the way to each. */
export function toHosts(settings: Settings): BankHost[] {
  const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl } = settings;
  const toHost = (name: BankHost['name'], variable: string, url: string): BankHost => {
    const bank = new URL(url);
    const proxy = goesDirect(settings, url) ? null : settings.EGRESS_PROXY_URL;
    const next = proxy ?? bank;
    return {
      name,
      variable,
      url,
      address: `${bank.hostname}:${bank.port || 443}`,
      proxy,
      hostname: next.hostname.replace(/^\[|\]$/g, ''),
      port: Number(next.port || (next.protocol === 'http:' ? 80 : 443)),
    };
  };
  if (new URL(baseUrl).host === new URL(authUrl).host) return [toHost('bank', 'BANK_BASE_URL', baseUrl)];
  return [toHost('tokens', 'BANK_AUTH_URL', authUrl), toHost('accounts', 'BANK_BASE_URL', baseUrl)];
}

/**
 * Reports failures of two hosts as one step: with the code of the first, and the problem and remedy of each.
 * @throws StepFailed
 */
export function failTogether(failures: readonly (StepFailed | null)[]): void {
  const found = failures.filter((failure) => failure !== null);
  const [first] = found;
  if (!first) return;
  const all = (key: 'problem' | 'remedy') => [...new Set(found.map((failure) => failure[key]))].join(' ');
  throw new StepFailed(first.code, first.owner, all('problem'), all('remedy'));
}
