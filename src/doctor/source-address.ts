import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/**
 * The local address that this machine would leave by towards a host, by its routing table; null when it has none.
 * A UDP socket is pointed there and asked: nothing is sent.
 */
export async function sourceAddressTowards(host: string, port: number): Promise<string | null> {
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(port, host);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}
