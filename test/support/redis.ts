import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from './authority.js';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { pathOf, startTool } from './tools.js';
import { until } from './until.js';

export interface Redis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly directory: string;
  /** Settings for a gateway that uses this Redis. */
  readonly env: Record<string, string>;
  /** Runs a command with redis-cli. Returns its output. */
  cli(...args: string[]): string;
  signal(signal: NodeJS.Signals): void;
  /** All keys with their values: everything visible to an attacker with access. */
  everything(): Buffer;
}

export interface RedisOptions {
  readonly tls?: boolean;
  /** Lines of redis.conf. */
  readonly config?: readonly string[];
  /** Credentials in the address: `user:password@`. */
  readonly credentials?: string;
  readonly port?: number;
}

/** The real redis-server on 127.0.0.1, by default on a free port. Writes to disk only for `everything`. */
export async function startRedis({
  tls = false,
  config = [],
  credentials = '',
  port,
}: RedisOptions = {}): Promise<Redis> {
  const directory = temporaryDirectory();
  const at = port ?? (await closedPort());
  const authority = tls ? createAuthority('Redis CA') : null;
  const lines = [
    'bind 127.0.0.1',
    tls ? 'port 0' : `port ${at}`,
    'save ""',
    'appendonly no',
    `dir ${directory}`,
    'daemonize no',
    'enable-debug-command yes',
    ...config,
  ];
  if (authority) {
    const { key, cert } = authority.server(['127.0.0.1', 'localhost']);
    writeFileSync(join(directory, 'key.pem'), key);
    writeFileSync(join(directory, 'cert.pem'), cert);
    writeFileSync(join(directory, 'ca.pem'), authority.pem);
    lines.push(
      `tls-port ${at}`,
      `tls-cert-file ${join(directory, 'cert.pem')}`,
      `tls-key-file ${join(directory, 'key.pem')}`,
      `tls-ca-cert-file ${join(directory, 'ca.pem')}`,
      'tls-auth-clients no',
    );
  }
  writeFileSync(join(directory, 'redis.conf'), `${lines.join('\n')}\n`);
  const { pid } = await startTool('redis-server', [join(directory, 'redis.conf')], at);
  // a gateway may wait only 200 ms for Redis, which must not be delayed by other tests that use the CPU
  prefer(pid);
  const url = `${tls ? 'rediss' : 'redis'}://${credentials}127.0.0.1:${at}`;
  const tlsArgs = tls ? ['--tls', '--cacert', join(directory, 'ca.pem')] : [];
  const redis: Redis = {
    url,
    port: at,
    pid,
    directory,
    env: { REDIS_URL: url, ...(tls && { REDIS_CA_FILE: join(directory, 'ca.pem') }) },
    cli: (...args) =>
      execFileSync(pathOf('redis-cli'), ['-h', '127.0.0.1', '-p', String(at), ...tlsArgs, ...args], {
        encoding: 'latin1',
        maxBuffer: 2 ** 28,
      }),
    signal: (signal) => void process.kill(pid, signal),
    everything: () => {
      redis.cli('SAVE');
      return readFileSync(join(directory, 'dump.rdb'));
    },
  };
  await until(() => redis.cli('PING').includes('PONG'));
  return redis;
}

/** Raises the priority of a process, if this user may. */
function prefer(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}
