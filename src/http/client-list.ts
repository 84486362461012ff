import type { Socket } from 'node:net';
import { isWithin, toCidr } from '../config/cidr.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: LOOPBACK,
  private: [...LOOPBACK, '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
  any: ['0.0.0.0/0', '::/0'],
};

/** Creates a check for a list of addresses, CIDRs, `loopback`, `private` (loopback included) or `any`. */
export function createClientList(entries: readonly string[]): (address: string) => boolean {
  const texts = entries.flatMap((entry) => NAMED[entry] ?? [entry]);
  const cidrs = texts.map(toCidr).filter((cidr) => cidr !== null);
  return (address) => isWithin(cidrs, address);
}

/** Creates a check for the caller's address on a connection; each connection is checked once. */
export function createClientCheck(entries: readonly string[]): (socket: Socket) => boolean {
  const isListed = createClientList(entries);
  const checked = new WeakMap<Socket, boolean>();
  return (socket) => {
    const known = checked.get(socket);
    if (known !== undefined) return known;
    const allowed = isListed(socket.remoteAddress ?? '');
    checked.set(socket, allowed);
    return allowed;
  };
}
