import type { TLSSocket } from 'node:tls';
import { ConnectFailure } from './connect-failure.js';

/**
 * Gives a connecting TLS socket until `deadlineMs` from now to be secure, and makes a distrusted server recognisable:
 * the error then is a ConnectFailure `untrusted`, whatever its code is in this version of Node.
 */
export function secureInTime(socket: TLSSocket, deadlineMs: number): TLSSocket {
  const timer = setTimeout(() => {
    socket.destroy(new ConnectFailure('connect-timeout', `no TLS connection within ${deadlineMs} ms`));
  }, deadlineMs);
  const done = () => clearTimeout(timer);
  socket.once('secureConnect', done);
  socket.once('close', done);

  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    const untrusted = error && !(error instanceof ConnectFailure) && socket.authorizationError;
    return destroy(
      untrusted
        ? new ConnectFailure('untrusted', 'the certificate of the server is not trusted', { cause: error })
        : error,
    );
  };
  return socket;
}
