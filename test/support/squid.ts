import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { pathOf, startTool } from './tools.js';

export interface Squid {
  /** The address without credentials. */
  readonly url: URL;
  /** The access log so far. */
  log(): string;
}

/** The real squid as the egress proxy. It requires Basic authentication, and allows CONNECT only to `ports`. */
export function startSquid(user: string, password: string, ports: readonly number[]): Promise<Squid> {
  const directory = temporaryDirectory();
  const file = (name: string) => join(directory, name);
  const hash = execFileSync(pathOf('openssl'), ['passwd', '-apr1', '-stdin'], {
    input: password,
    encoding: 'utf8',
  }).trim();
  writeFileSync(file('users'), `${user}:${hash}\n`);
  return start(directory, (address) => [
    `http_port ${address}`,
    `auth_param basic program ${pathOf('basic_ncsa_auth')} ${file('users')}`,
    'auth_param basic children 1',
    'auth_param basic utf8 on',
    'acl known proxy_auth REQUIRED',
    'acl CONNECT method CONNECT',
    `acl banks port ${ports.join(' ')}`,
    'http_access deny !known',
    'http_access deny !CONNECT',
    'http_access deny !banks',
  ]);
}

/** The real squid in front of a server on this machine, as a reverse proxy that caches nothing. */
export function startSquidInFrontOf(serverPort: number): Promise<Squid> {
  return start(temporaryDirectory(), (address) => [
    `http_port ${address} accel defaultsite=127.0.0.1`,
    `cache_peer 127.0.0.1 parent ${serverPort} 0 no-query originserver`,
  ]);
}

async function start(directory: string, linesFor: (address: string) => readonly string[]): Promise<Squid> {
  const port = await closedPort();
  const file = (name: string) => join(directory, name);
  writeFileSync(
    file('squid.conf'),
    [
      ...linesFor(`127.0.0.1:${port}`),
      'http_access allow all',
      'cache deny all',
      'workers 1',
      'shutdown_lifetime 0 seconds',
      'pinger_enable off',
      'logfile_rotate 0',
      `pid_filename ${file('squid.pid')}`,
      `coredump_dir ${directory}`,
      `cache_log ${file('cache.log')}`,
      `access_log stdio:${file('access.log')}`,
      '',
    ].join('\n'),
  );
  // squid drops root for the user `proxy`, who must be able to write here
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'proxy:proxy', directory]);
  await startTool('squid', ['-N', '-f', file('squid.conf')], port);
  return { url: new URL(`http://127.0.0.1:${port}`), log: () => readFileSync(file('access.log'), 'utf8') };
}
