import { BlockList, isIP } from 'node:net';

/** The addresses that may call: IP addresses and CIDRs. An empty list allows nobody. */
export class Allowlist {
  readonly #networks = new BlockList();

  /** @throws Error that names an entry that is neither an IP address nor a CIDR */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  admits(address: string): boolean {
    const plain = toPlainAddress(address);
    return isIP(plain) !== 0 && this.#networks.check(plain, familyOf(plain));
  }

  #add(entry: string): void {
    const [, address = '', bits = isIP(entry) === 4 ? '32' : '128'] =
      /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
    try {
      this.#networks.addSubnet(address, Number(bits), familyOf(address));
    } catch (cause) {
      throw new Error(`"${entry}" is not an IP address or CIDR, such as 127.0.0.1 or 10.0.0.0/8`, { cause });
    }
  }
}

/** The IPv4 address within an IPv6 one that it arrived as (::ffff:10.0.0.1); others unchanged. */
export function toPlainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
