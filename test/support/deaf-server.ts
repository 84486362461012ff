import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { onClose } from './closing.js';

const PROGRAM = `
const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write(String(server.address().port));
});`;

/**
 * A port that drops packets, without privileges: its process is stopped and its queue is full, so that Linux ignores
 * any further SYN.
 */
export async function startDeafServer(): Promise<number> {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'ignore'] });
  const sockets: Socket[] = [];
  onClose(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(chunk.toString());
  child.kill('SIGSTOP');
  for (let tried = 0; tried < 20; tried += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), delay(300)]);
    // after a pause of this process, the connection may be open but not yet reported
    await setImmediate();
    if (socket.connecting) return port;
  }
  throw new Error('the queue does not fill');
}
