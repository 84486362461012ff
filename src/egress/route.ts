import { isIP } from 'node:net';
import { isWithin, toCidr } from '../config/cidr.js';
import type { Settings } from '../config/settings.js';
import { toHost, withoutFinalDot } from './dial.js';

/** The route to `baseUrl` without credentials: `direct`, `direct from 192.0.2.1`, `proxy http://host:3128`. */
export function describeRoute(settings: Settings, baseUrl: string): string {
  const { EGRESS_PROXY_URL: proxy, EGRESS_LOCAL_ADDRESS: localAddress } = settings;
  const from = localAddress === undefined ? '' : ` from ${localAddress}`;
  return proxy && !goesDirect(settings, baseUrl) ? `proxy ${proxy.protocol}//${proxy.host}${from}` : `direct${from}`;
}

export function describeRoutes(settings: Settings): string {
  const accounts = describeRoute(settings, settings.BANK_BASE_URL);
  const tokens = describeRoute(settings, settings.BANK_AUTH_URL);
  return accounts === tokens ? accounts : `accounts: ${accounts}; tokens: ${tokens}`;
}

export function goesDirect(settings: Settings, baseUrl: string): boolean {
  if (!settings.EGRESS_PROXY_URL) return true;
  const url = new URL(baseUrl);
  return matchesNoProxy(settings.EGRESS_NO_PROXY, url.hostname, Number(url.port || 443));
}

/**
 * True if a NO_PROXY list sends `host:port` direct. Names match themselves and their subdomains (with or without a
 * leading dot or `*.`), `name:port` only that port, addresses and CIDRs by value, `*` everything.
 */
export function matchesNoProxy(list: string, host: string, port: number): boolean {
  const name = withoutFinalDot(toHost({ hostname: host.toLowerCase() }));
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry, name, port));
}

function matches(entry: string, name: string, port: number): boolean {
  if (entry === '*') return true;
  // an IPv6 address can have a port only in brackets: 2001:db8::1 is an address without a port
  const [, bracketed, bare, wantedPort] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  const pattern = bracketed ?? bare ?? entry;
  if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
  if (isIP(name) !== 0) {
    const network = toCidr(pattern);
    return network !== null && isWithin([network], name);
  }
  const suffix = pattern.replace(/^\*?\./, '').replace(/\.$/, '');
  return suffix !== '' && (name === suffix || name.endsWith(`.${suffix}`));
}
