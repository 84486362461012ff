import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRawServer, temporaryDirectory, type ServerIdentity } from './proxies.js';

const running = new Set<() => Promise<void>>();

/** For afterEach. */
export async function closeOpensslServers(): Promise<void> {
  const all = [...running];
  running.clear();
  await Promise.all(all.map((close) => close()));
}

/** The real `openssl s_server` on a free port of 127.0.0.1; gives its port. */
export async function startOpensslServer({ key, cert }: ServerIdentity, args: readonly string[]): Promise<number> {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'server.key'), key);
  writeFileSync(join(directory, 'server.pem'), cert);
  const free = await startRawServer(() => undefined);
  const { port } = free;
  await free.close();
  const accept = ['-accept', `127.0.0.1:${port}`, '-key', 'server.key', '-cert', 'server.pem'];
  const server = spawn('openssl', ['s_server', ...accept, '-www', ...args], { cwd: directory, stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  running.add(async () => {
    server.kill('SIGKILL');
    await ended;
  });
  for (let waited = 0; !(await accepts(port)); waited += 20) {
    if (waited > 10_000 || server.exitCode !== null)
      throw new Error(`openssl s_server does not start: ${args.join(' ')}`);
    await delay(20);
  }
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
