import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The step at which a connection to the bank is: `open` once the TLS handshake is finished, `used` once a byte arrived. */
export type Stage = 'DNS' | 'TCP' | 'TLS' | 'open' | 'used';

const stages = new WeakMap<Socket, Stage>();

/** Follows a connection that has just been begun, directly to `host`, or through a tunnel that is open. */
export function followStage(socket: TLSSocket, to: { readonly host: string } | 'tunnel'): void {
  const direct = to !== 'tunnel' && isIP(to.host) === 0 ? 'DNS' : 'TCP';
  stages.set(socket, to === 'tunnel' ? 'TLS' : direct);
  socket.on('lookup', (error: Error | null) => {
    if (error === null) stages.set(socket, 'TCP');
  });
  socket.once('connect', () => stages.set(socket, 'TLS'));
  socket.once('secureConnect', () => stages.set(socket, 'open'));
}

/** Null for a call that has no connection, and for a tunnel that is not open. */
export function stageOf(socket: Socket | null | undefined): Stage | null {
  const stage = (socket && stages.get(socket)) ?? null;
  // those of the handshake do not count
  return stage === 'open' && socket && socket.bytesRead > 0 ? 'used' : stage;
}
