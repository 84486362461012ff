import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { onClose } from './closing.js';
import { accepts } from './servers.js';
import { until } from './until.js';

export const NGINX = '/usr/sbin/nginx';
export const SQUID = '/usr/sbin/squid';
export const HAPROXY = '/usr/sbin/haproxy';
export const CHROMIUM = '/usr/bin/chromium';
export const NCSA_AUTH = '/usr/lib/squid/basic_ncsa_auth';

/** Whether the real program is here; says so in one line when not, and is an error in CI. */
export const hasSquid = () => hasTool('squid', existsSync(SQUID) && existsSync(NCSA_AUTH), 'squid');
export const hasNginx = () => hasTool('nginx', existsSync(NGINX), 'nginx-light');
export const hasHaproxy = () => hasTool('haproxy', existsSync(HAPROXY), 'haproxy');
export const hasChromium = () => hasTool('chromium', existsSync(CHROMIUM), 'chromium');
export const hasOpenssl = () => hasTool('openssl', spawnSync('openssl', ['version']).status === 0, 'openssl');

export const hasPrometheus = () =>
  hasTool(
    'prometheus',
    ['promtool', 'prometheus'].every((name) => spawnSync(name, ['--version']).status === 0),
    'prometheus',
  );
export const hasRedis = () =>
  hasTool('redis-server', spawnSync('redis-server', ['--version']).status === 0, 'redis-server');

function hasTool(name: string, present: boolean, aptPackage: string): boolean {
  if (present) return true;
  const told = `${name} is missing (apt-get install ${aptPackage})`;
  if (process.env['CI']) throw new Error(`${told}, and CI must not skip`);
  process.stderr.write(`skipped: ${told}\n`);
  return false;
}

export interface RunningTool {
  /** Its standard input takes commands. */
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  /** All it has written so far. */
  told(): string;
  readonly pid: number;
}

/** Runs a program that listens on `port` of 127.0.0.1, from when it does; `closeAll` ends it. */
export async function startTool(program: string, args: readonly string[], port: number): Promise<RunningTool> {
  const child = spawn(program, args);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let told = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (told += String(chunk)));
  child.stdin.on('error', () => undefined);
  onClose(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${program} does not start: ${told}`);
    return accepts(port);
  }, 15_000);
  return { stdin: child.stdin, told: () => told, pid: child.pid ?? 0 };
}
