import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The addresses that may call. An empty list admits nobody. */
export interface Allowlist {
  admits(address: string): boolean;
}

/** Throws if an entry is no IP address or CIDR. */
export function createAllowlist(entries: readonly string[]): Allowlist {
  const networks = entries.map(toNetwork);
  return {
    admits: (address) => {
      if (isIP(address) === 0) return false;
      const plain = ipaddr.process(address);
      return networks.some(([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits));
    },
  };
}

/** True for an IP address or a CIDR: 127.0.0.1, 10.0.0.0/8, ::1, fd00::/8. */
export function isAllowlistEntry(entry: string): boolean {
  try {
    toNetwork(entry);
    return true;
  } catch {
    return false;
  }
}

/** An IPv4 address that arrived at an IPv6 socket (::ffff:10.0.0.1) as the IPv4 address it is; others unchanged. */
export function toPlainAddress(address: string): string {
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address;
}

function toNetwork(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [address = ''] = entry.split('/');
  const full = address === entry ? `${entry}/${isIP(entry) === 4 ? 32 : 128}` : entry;
  // the library would read 10.1 as 10.0.0.1, as inet_aton does
  if (isIP(address) === 0 || address.includes('%') || !ipaddr.isValidCIDR(full)) {
    throw new Error(`"${entry}" is no IP address or CIDR, such as 127.0.0.1 or 10.0.0.0/8`);
  }
  const [network, bits] = ipaddr.parseCIDR(full);
  if (!(network instanceof ipaddr.IPv6) || !network.isIPv4MappedAddress()) return [network, bits];
  if (bits < 96) throw new Error(`"${entry}": a mapped IPv4 address needs a prefix of 96 or more`);
  return [network.toIPv4Address(), bits - 96];
}
