import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { onClose } from './closing.js';
import { accepts } from './servers.js';
import { until } from './until.js';

export const NGINX = '/usr/sbin/nginx';
export const SQUID = '/usr/sbin/squid';
export const HAPROXY = '/usr/sbin/haproxy';
export const CHROMIUM = '/usr/bin/chromium';
export const NCSA_AUTH = '/usr/lib/squid/basic_ncsa_auth';

/** Whether the real program is here; says so in one line when not, and is an error in CI, which installs it (`.ci/run`). */
export const hasSquid = () => hasTool('squid', existsSync(SQUID) && existsSync(NCSA_AUTH), 'squid') && hasOpenssl();
export const hasNginx = () => hasTool('nginx', existsSync(NGINX), 'nginx-light');
export const hasHaproxy = () => hasTool('haproxy', existsSync(HAPROXY), 'haproxy');
export const hasChromium = () => hasTool('chromium', existsSync(CHROMIUM), 'chromium');
export const hasOpenssl = () => hasTool('openssl', runs('openssl', 'version'), 'openssl');
export const hasKeytool = () => hasTool('keytool', runs('keytool', '-help'), 'default-jre-headless');
export const hasPrlimit = () => hasTool('prlimit', runs('prlimit', '--version'), 'util-linux');
export const hasPromtool = () => hasTool('promtool', runs('promtool', '--version'), 'prometheus');
export const hasRedis = () =>
  hasTool('redis-server', runs('redis-server', '--version') && runs('redis-cli', '--version'), 'redis-server');

/** Whether the machine has the loopback address of IPv6, which cannot be installed: where it has none, CI skips too. */
export function hasIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (addresses.some(({ address }) => address === '::1')) return true;
  process.stderr.write('skipped: this machine has no IPv6 (::1)\n');
  return false;
}

const runs = (program: string, probe: string): boolean => spawnSync(program, [probe]).status === 0;

function hasTool(name: string, present: boolean, aptPackage: string): boolean {
  if (present) return true;
  const problem = `${name} is missing (apt-get install ${aptPackage})`;
  if (process.env['CI']) throw new Error(`${problem}, and CI must not skip`);
  process.stderr.write(`skipped: ${problem}\n`);
  return false;
}

export interface RunningTool {
  /** Its standard input takes commands. */
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  /** All it has written so far. */
  output(): string;
  readonly pid: number;
}

/** Runs a program that listens on `port` of 127.0.0.1, from when it does. */
export async function startTool(program: string, args: readonly string[], port: number): Promise<RunningTool> {
  const child = spawn(program, args);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  child.stdin.on('error', () => undefined);
  let missing: Error | null = null;
  child.once('error', (error) => (missing = error));
  onClose(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(() => {
    // no such program, for one: it never runs
    if (missing) throw missing;
    if (child.exitCode !== null) throw new Error(`${program} does not start: ${output}`);
    return accepts(port);
  });
  return { stdin: child.stdin, output: () => output, pid: child.pid ?? 0 };
}
