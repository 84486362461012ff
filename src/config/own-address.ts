import { isIP } from 'node:net';

const ANY_ADDRESS = new Set(['', '0.0.0.0', '::']);

/** Host and port, for a URL, at which this machine reaches a gateway that listens there. */
export function ownAddress(host: string, port: number | string): string {
  const address = ANY_ADDRESS.has(host) ? '127.0.0.1' : host;
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
}

/** True for an address of HOST that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
