import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onClose } from './closing.js';

/** An HTTP server on a free port of 127.0.0.1. Returns its address. */
export async function startWebServer(serving: RequestListener | Server): Promise<string> {
  const server = typeof serving === 'function' ? createServer(serving) : serving;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
