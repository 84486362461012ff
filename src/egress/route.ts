import type { BankSettings, EgressSettings } from '../config/settings.js';
import { matchesNoProxy } from './no-proxy.js';

/** The way to `baseUrl` in words, without credentials: `direct`, `direct from 192.0.2.1`, `proxy http://host:3128`. */
export function describeRoute(settings: EgressSettings, baseUrl: string): string {
  const { proxy, localAddress } = settings;
  const from = localAddress === null ? '' : ` from ${localAddress}`;
  return proxy && !goesDirect(settings, baseUrl) ? `proxy ${proxy.protocol}//${proxy.host}${from}` : `direct${from}`;
}

/** The ways to both hosts of the bank: one where they are the same, else each by its name. */
export function describeRoutes(settings: EgressSettings, bank: Pick<BankSettings, 'baseUrl' | 'authUrl'>): string {
  const [accounts, tokens] = [describeRoute(settings, bank.baseUrl), describeRoute(settings, bank.authUrl)];
  return accounts === tokens ? accounts : `accounts: ${accounts}; tokens: ${tokens}`;
}

/** Whether `baseUrl` is reached without a proxy. */
export function goesDirect(settings: EgressSettings, baseUrl: string): boolean {
  if (!settings.proxy) return true;
  const url = new URL(baseUrl);
  return matchesNoProxy(settings.noProxy, url.hostname, Number(url.port || 443));
}
