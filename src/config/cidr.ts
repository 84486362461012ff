import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network: its address and prefix length. */
type Cidr = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: LOOPBACK,
  private: [...LOOPBACK, '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
  any: ['0.0.0.0/0', '::/0'],
};

/** The networks named by addresses, CIDRs, `loopback`, `private` or `any`; omits all other entries. */
export function toNetworks(entries: readonly string[]): Cidr[] {
  const texts = entries.flatMap((entry) => NAMED[entry] ?? [entry]);
  return texts.map(toCidr).filter((cidr) => cidr !== null);
}

/** Parses an IP address or a CIDR; IPv4-mapped ones (::ffff:10.0.0.0/104) become IPv4. Null for any other text. */
export function toCidr(text: string): Cidr | null {
  const [address = ''] = text.split('/');
  const family = isIP(address);
  // checked first, since the library reads 10.1 as 10.0.0.1, as inet_aton does
  if (family === 0 || address.includes('%')) return null;
  const full = address === text ? `${text}/${family === 4 ? 32 : 128}` : text;
  if (!ipaddr.isValidCIDR(full)) return null;
  const [network, bits] = ipaddr.parseCIDR(full);
  if (!isMapped(network)) return [network, bits];
  return bits < 96 ? null : [network.toIPv4Address(), bits - 96];
}

/**
 * True if an IP address is in one of these networks. One that arrived at an IPv6 socket (::ffff:10.0.0.1) counts as IPv4;
 * a zone (fe80::1%eth0) is ignored.
 */
export function isWithin(cidrs: readonly Cidr[], text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return cidrs.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

const isMapped = (address: ipaddr.IPv4 | ipaddr.IPv6): address is ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
