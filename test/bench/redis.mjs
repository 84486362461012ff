import { spawnSync } from 'node:child_process';
import { createClient } from '@redis/client';
import { freePort, has, start, untilReady } from './processes.mjs';

/** Why there can be no fleet here, or null. */
export const redisMissing = () => (has('redis-server') ? null : 'redis-server (the whole cell)');

/** The real redis-server on a free port, which keeps nothing on disk, and a connection to ask it how it is. */
export async function startRedis({ cwd }) {
  const port = await freePort();
  const line = ['redis-server', '--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  const program = start('redis-server', line, { cwd });
  await untilReady(program, () => spawnSync('redis-cli', ['-p', String(port), 'PING']).status === 0);
  const url = `redis://127.0.0.1:${port}`;
  const client = createClient({ url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    url,
    empty: () => client.flushAll(),
    /** CPU time that it has used so far, ms. */
    cpuMs: async () => {
      const info = await client.info('cpu');
      const seconds = (name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(info)[1]);
      return 1000 * (seconds('sys') + seconds('user'));
    },
    /** How many commands it has run so far: those of clients, and those within their scripts. */
    commands: async () => Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))[1]),
    stop: async () => {
      client.destroy();
      await program.stop();
    },
  };
}
