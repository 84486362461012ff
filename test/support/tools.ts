import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onClose } from './closing.js';
import { accepts } from './servers.js';
import { until } from './until.js';

/** Programs that some tests need, each with its Debian package. */
const PACKAGES = {
  openssl: 'openssl',
  squid: 'squid',
  basic_ncsa_auth: 'squid',
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  stunnel: 'stunnel4',
  'gnutls-serv': 'gnutls-bin',
  tinyproxy: 'tinyproxy',
  chromium: 'chromium-headless-shell',
  'firefox-esr': 'firefox-esr',
  jq: 'jq',
  keytool: 'default-jre-headless',
  mount: 'mount',
  umount: 'mount',
  prlimit: 'util-linux',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd',
  'redis-server': 'redis-server',
  'redis-cli': 'redis-server',
} as const;
type Program = keyof typeof PACKAGES;

/** Folders with programs: those of servers are not in every user's PATH. */
const DIRECTORIES = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/squid'];

/** The programs that this test file has checked for. */
const asked = new Set<Program>();

/**
 * True if a real program is installed. A test must check this before it starts one, and is skipped without it;
 * otherwise `pathOf` throws. CI installs all of them (`.ci/run`), so a missing one is an error there.
 */
export const hasOpenssl = () => has('openssl');
export const hasSquid = () => has('squid', 'basic_ncsa_auth', 'openssl');
export const hasNginx = () => has('nginx');
export const hasTinyproxy = () => has('tinyproxy');
export const hasHaproxy = () => has('haproxy');
export const hasChromium = () => has('chromium');
export const hasFirefox = () => has('firefox-esr');
export const hasJq = () => has('jq');
export const hasKeytool = () => has('keytool');
export const hasPrlimit = () => has('prlimit');
export const hasPromtool = () => has('promtool');
export const hasSystemdAnalyze = () => has('systemd-analyze');
export const hasRedis = () => has('redis-server', 'redis-cli');

/** True if the machine has the IPv6 loopback address. It cannot be installed, so even CI skips such tests. */
export function hasIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (addresses.some(({ address }) => address === '::1')) return true;
  reportMissing('IPv6 on this machine');
  return false;
}

/**
 * True if this user can mount a small disk: only root can, and not in every container. Otherwise even CI skips such
 * tests.
 */
export function canMountDisk(): boolean {
  if (!has('mount', 'umount')) return false;
  const directory = mkdtempSync(join(tmpdir(), 'accounts-gateway-disk-'));
  const isMounted = spawnSync(pathOf('mount'), ['-t', 'tmpfs', 'tmpfs', directory]).status === 0;
  if (isMounted) spawnSync(pathOf('umount'), [directory]);
  rmdirSync(directory);
  if (!isMounted) reportMissing('the right to mount a disk');
  return isMounted;
}

/** The path of a program. @throws if the test file has not checked for it, or if it is not installed */
export function pathOf(program: Program): string {
  if (!asked.has(program)) {
    throw new Error(
      `This file starts ${program} without asking for it: skip the test unless has…() of tools.ts is true`,
    );
  }
  const path = find(program);
  if (path === undefined) throw new Error(`${program} is missing (apt-get install ${PACKAGES[program]})`);
  return path;
}

/** For programs chosen by a test's data. */
export function has(...programs: Program[]): boolean {
  for (const program of programs) asked.add(program);
  const missing = programs.filter((program) => find(program) === undefined);
  const packages = new Set(missing.map((program) => PACKAGES[program]));
  if (missing.length > 0 && process.env['CI']) {
    throw new Error(
      `CI must not skip, and ${missing.join(', ')} is missing: apt-get install ${[...packages].join(' ')}`,
    );
  }
  for (const each of packages) reportMissing(each);
  return missing.length === 0;
}

/** `BARE=1 npm test` behaves like a machine without any of them. */
function find(program: Program): string | undefined {
  if (process.env['BARE']) return undefined;
  // the first is the same browser, headless, and uses a third of the CPU time
  const names = program === 'chromium' ? ['chromium-headless-shell', 'chromium'] : [program];
  return names
    .flatMap((name) => DIRECTORIES.map((directory) => join(directory, name)))
    .find((path) => existsSync(path));
}

/** A package, or words, for the line at the end of the run (report-skipped.mjs). */
function reportMissing(name: string): void {
  const file = process.env['TEST_MISSING'];
  if (file) appendFileSync(file, `${name}\n`);
}

export interface RunningTool {
  /** The standard input, which accepts commands. */
  readonly stdin: ChildProcessWithoutNullStreams['stdin'];
  /** Its output so far. */
  output(): string;
  readonly pid: number;
}

/** Starts a program, and resolves when it listens on `port` of 127.0.0.1. Fails at once if it cannot be started. */
export async function startTool(program: Program, args: readonly string[], port: number): Promise<RunningTool> {
  return startServer(pathOf(program), args, port);
}

/** The same with any program. */
export async function startServer(path: string, args: readonly string[], port: number): Promise<RunningTool> {
  const child = spawn(path, args);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  child.stdin.on('error', () => undefined);
  const failure = new Promise<Error>((resolve) => child.once('error', resolve));
  const spawned = new Promise<null>((resolve) => child.once('spawn', () => resolve(null)));
  const error = await Promise.race([failure, spawned]);
  // a process that was never started never closes
  if (error) throw error;
  const ended = new Promise((resolve) => child.once('close', resolve));
  onClose(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${path} does not start: ${output}`);
    return accepts(port);
  });
  return { stdin: child.stdin, output: () => output, pid: child.pid ?? 0 };
}
