import { BlockList, isIP } from 'node:net';

/** The addresses that may call. An empty list admits nobody. */
export interface WhiteList {
  admits(address: string): boolean;
}

/** Throws if an entry is no `WhiteListEntry`. */
export function createWhiteList(entries: readonly string[]): WhiteList {
  const list = new BlockList();
  for (const entry of entries) {
    const { address, prefix } = parseEntry(entry);
    list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return {
    admits: (address) => {
      const plain = toPlainAddress(address);
      return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
    },
  };
}

/** True for an IP address or a CIDR: 127.0.0.1, 10.0.0.0/8, ::1, fd00::/8. */
export function isWhiteListEntry(entry: string): boolean {
  try {
    parseEntry(entry);
    return true;
  } catch {
    return false;
  }
}

/** An IPv4 address that arrived at an IPv6 socket (::ffff:10.0.0.1) as the IPv4 address it is; others unchanged. */
export function toPlainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

function parseEntry(entry: string): { address: string; prefix: number } {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const length = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (!family || address.includes('%') || rest.length > 0 || !(length <= most)) {
    throw new Error(`"${entry}" is no IP address or CIDR, such as 127.0.0.1 or 10.0.0.0/8`);
  }
  const plain = toPlainAddress(address);
  if (plain === address) return { address, prefix: length };
  if (length < 96) throw new Error(`"${entry}": a mapped IPv4 address needs a prefix of 96 or more`);
  return { address: plain, prefix: length - 96 };
}
