import { goesDirect } from '../egress/route.js';
import type { Settings } from '../config/settings.js';
import { StepFailed } from './step-failed.js';

/** A host of the bank, as the doctor's messages describe it. */
export interface BankHost {
  /** Key of its facts: `tokens`, `accounts`, or `bank` when one host is both. */
  readonly name: 'bank' | 'tokens' | 'accounts';
  /** In words, for messages. */
  readonly target: string;
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
export function toHosts(settings: Settings) {
  const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl } = settings;
  const toHost = (host: Pick<BankHost, 'name' | 'target' | 'variable' | 'url'>): BankHost => {
    const url = new URL(host.url);
    const proxy = goesDirect(settings, host.url) ? null : settings.EGRESS_PROXY_URL;
    const usual = proxy?.protocol === 'http:' ? 80 : 443;
    const next = proxy ?? url;
    return {
      ...host,
      address: `${url.hostname}:${url.port || 443}`,
      proxy,
      hostname: next.hostname.replace(/^\[|\]$/g, ''),
      port: Number(next.port || usual),
    };
  };
  if (new URL(baseUrl).host === new URL(authUrl).host) {
    return [toHost({ name: 'bank', target: 'the bank', variable: 'BANK_BASE_URL', url: baseUrl })];
  }
  return [
    toHost({ name: 'tokens', target: 'the token endpoint', variable: 'BANK_AUTH_URL', url: authUrl }),
    toHost({ name: 'accounts', target: 'the account list', variable: 'BANK_BASE_URL', url: baseUrl }),
  ];
}

/** A line for people; with two hosts it says which one it is about. */
export const lineFor = ({ name }: BankHost, text: string): string =>
  name === 'bank' ? text : `${name.padEnd(8)}  ${text}`;

/**
 * Reports failures of two hosts as one step: with the code of the first, and the problem and remedy of each.
 * @throws StepFailed
 */
export function failTogether(failures: readonly (StepFailed | null)[]): void {
  const found = failures.filter((failure) => failure !== null);
  const [first] = found;
  if (!first) return;
  const [problem, remedy] = (['problem', 'remedy'] as const).map((key) =>
    [...new Set(found.map((failure) => failure[key]))].join(' '),
  );
  throw new StepFailed(first.code, first.owner, String(problem), String(remedy));
}
