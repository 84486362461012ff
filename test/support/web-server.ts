import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onClose } from './closing.js';

/** An HTTP server that answers as the test says, on a free port of 127.0.0.1; gives its address. `closeAll` ends it. */
export async function startWebServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onClose(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
