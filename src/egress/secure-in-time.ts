import type { TLSSocket } from 'node:tls';
import { ConnectFailure } from './connect-failure.js';

/**
 * Gives a connecting TLS socket until `deadlineMs` from now to be secure, and makes a distrusted server recognisable:
 * the error then is a ConnectFailure `untrusted`, whatever its code is in this version of Node. `explain` may rename
 * other errors that end the handshake.
 */
export function secureInTime(
  socket: TLSSocket,
  deadlineMs: number,
  explain: (error: Error) => Error = (error) => error,
): TLSSocket {
  // not `within`: the deadline ends the socket itself, which the agent has handed out long since
  const timer = setTimeout(() => socket.destroy(new ConnectFailure('connect-timeout')), deadlineMs);
  let settled = false;
  const settle = () => {
    settled = true;
    clearTimeout(timer);
  };
  socket.once('secureConnect', settle);
  socket.once('close', settle);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    if (settled || !error || error instanceof ConnectFailure) return destroy(error);
    if (!socket.authorizationError) return destroy(explain(error));
    return destroy(new ConnectFailure('untrusted', error, undefined, socket.getPeerX509Certificate()));
  };
  return socket;
}
