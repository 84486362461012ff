import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { onClose } from './closing.js';

const PROGRAM = `
const [port, host] = process.argv.slice(1);
const server = require('node:net').createServer().listen({ port: Number(port), host, backlog: 1 }, () => {
  process.stdout.write(String(server.address().port));
});`;

/**
 * A port, by default a free one of 127.0.0.1, that drops packets, without privileges: its process is stopped and its queue is full, so that Linux ignores
 * any further SYN.
 */
export async function startDeafServer(wanted = 0, host = '127.0.0.1'): Promise<number> {
  const child = spawn(process.execPath, ['-e', PROGRAM, String(wanted), host], { stdio: ['ignore', 'pipe', 'ignore'] });
  const sockets: Socket[] = [];
  onClose(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(chunk.toString());
  child.kill('SIGSTOP');
  for (let tried = 0; tried < 20; tried += 1) {
    const socket = connect(port, host).on('error', () => undefined);
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), delay(300)]);
    // after a pause of this process, the connection may be open but not yet reported
    await setImmediate();
    if (socket.connecting) return port;
  }
  throw new Error('the queue does not fill');
}
