import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';
import forge from 'node-forge';
import { pino } from 'pino';
import { Egress } from '../../src/egress/egress.js';
import type { WireRequest } from '../../src/egress/wire-client.js';
import { GatewayError } from '../../src/problems/gateway-error.js';
import { createCertificate, type Validity } from '../../src/sandbox/identity/certificate.js';
import { createKeyPair, type KeyPair } from '../../src/sandbox/identity/key-pair.js';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import type { EgressSettings } from '../../src/config/settings.js';
import type { PretendBank } from './pretend-bank.js';

const closers = new Set<() => Promise<void>>();

/** For afterEach: ends every proxy, server and egress that a test left. */
export async function closeProxies(): Promise<void> {
  const all = [...closers];
  closers.clear();
  for (const close of all) await close();
}

/** Is called by the next `closeProxies`. */
export function onClose(close: () => Promise<void>): void {
  closers.add(close);
}

/* Egress */

export interface ClientIdentity {
  readonly key: string;
  readonly cert: string;
  readonly ca: string | null;
}

/** What the gateway would hand to egress for this bank. */
export function identityFor({ files }: PretendBank): ClientIdentity {
  const { keyPem, certificatePems } = openPfx(readFileSync(files.pfx), readFileSync(files.passcode, 'utf8'));
  return { key: keyPem, cert: certificatePems.join('\n'), ca: readFileSync(files.ca, 'utf8') };
}

/** An egress of its own with short deadlines; its log lines of all levels go to `lines`. */
export function createEgress(tls: ClientIdentity, change: Partial<EgressSettings> = {}, lines: string[] = []): Egress {
  const egress = new Egress(
    {
      tlsMaxVersion: '1.3',
      connectTimeoutMs: 1000,
      requestTimeoutMs: 3000,
      maxConcurrentRequests: 6,
      maxResponseBytes: 33_554_432,
      proxy: null,
      noProxy: '',
      proxyCaFile: null,
      localAddress: null,
      ...change,
    },
    tls,
    pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
  );
  closers.add(async () => egress.retire());
  return egress;
}

/** A call for the account list. */
export function accountsAt(baseUrl: string, change: Partial<WireRequest> = {}): WireRequest {
  const headers = { Accept: 'application/json', Authorization: 'Bearer secret-token' };
  return { target: 'the account list', baseUrl, path: '/api/v1/accounts', headers, ...change };
}

/** What a call that has to fail fails with, and how long it took; everything the error holds is looked through for secrets. */
export async function failureOf(call: Promise<unknown>): Promise<GatewayError & { readonly ms: number }> {
  const started = performance.now();
  const error: unknown = await call.then(
    (value) => new Error(`no failure but ${JSON.stringify(value).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw error;
  const told = [error.detail, error.message, String(error.stack), String(error.cause), JSON.stringify(error)].join(' ');
  if (/secret|BEGIN|Basic |Bearer /.test(told)) throw new Error(`a secret in ${told}`);
  return Object.assign(error, { ms: performance.now() - started });
}

/** TCP connections of this process, at either end. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length;
}

/** Waits at most two seconds until no more than `allowed` connections are left; gives how many there are. */
export async function socketsLeft(allowed: number): Promise<number> {
  for (let waited = 0; waited < 2000 && openSockets() > allowed; waited += 25) await delay(25);
  return openSockets();
}

/* Certificates */

export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  readonly pem: string;
  /** PEM file, in a directory that lasts as long as the tests. */
  readonly file: string;
  /** The root itself as a server: a self-signed certificate. */
  readonly self: ServerIdentity;
  server(names: readonly string[], validity?: Validity): ServerIdentity;
  client(name: string, validity?: Validity): ServerIdentity;
}

const keyPairs = new Map<string, Promise<KeyPair>>();

/** Made once for each name, since it takes a while. */
function keyPairOf(name: string): Promise<KeyPair> {
  const made = keyPairs.get(name) ?? createKeyPair();
  keyPairs.set(name, made);
  return made;
}

/** A root of this name; the leaves of all of them share one key pair, which is no matter here. */
export async function createAuthority(name: string): Promise<Authority> {
  const [caKey, leafKey] = await Promise.all([keyPairOf(name), keyPairOf('a leaf')]);
  const root = createCertificate(name, caKey, { use: 'root' });
  const issuer = { certificate: root, key: caKey };
  const directory = temporaryDirectory();
  const file = join(directory, 'ca.pem');
  writeFileSync(file, forge.pki.certificateToPem(root));
  const toIdentity = (certificate: forge.pki.Certificate) => ({
    key: leafKey.pem,
    cert: forge.pki.certificateToPem(certificate),
  });
  return {
    pem: forge.pki.certificateToPem(root),
    file,
    self: { key: caKey.pem, cert: forge.pki.certificateToPem(root) },
    server: (names, validity) =>
      toIdentity(createCertificate('a server', leafKey, { use: 'server', issuer, names }, validity)),
    client: (common, validity) => toIdentity(createCertificate(common, leafKey, { use: 'client', issuer }, validity)),
  };
}

/** A validity that ended yesterday. */
export function expired(): Validity {
  const day = 86_400_000;
  return { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) };
}

/** Removed by `closeProxies`. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'egress-'));
  closers.add(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/* Servers */

export interface RawServer {
  readonly port: number;
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** How many there ever were. */
  readonly accepted: number;
  close(): Promise<void>;
}

/** A TCP server that does what `onSocket` says, which by default is to listen in silence; on 127.0.0.1 or `host`. */
export async function startRawServer(
  onSocket: (socket: Socket) => void = (socket) => socket.resume(),
  host = '127.0.0.1',
): Promise<RawServer> {
  return listen(createServer(), onSocket, host);
}

/** The same over TLS; `onSocket` gets the secured connection. */
export async function startTlsServer(options: TlsOptions, onSocket: (socket: TLSSocket) => void): Promise<RawServer> {
  const server = createTlsServer(options, onSocket);
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => socket.on('error', () => undefined));
  return listen(server, () => undefined, '127.0.0.1');
}

async function listen(server: Server, onSocket: (socket: Socket) => void, host: string): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const counted = { accepted: 0 };
  server.on('connection', (socket: Socket) => {
    counted.accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const close = async () => {
    if (!closers.delete(close) && !server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  closers.add(close);
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close,
    get accepted() {
      return counted.accepted;
    },
  };
}

/* CONNECT proxies of our own */

export interface Connect {
  /** The CONNECT and its header, as sent. */
  readonly head: string;
  readonly socket: Socket;
  /** Opens the tunnel, as a good proxy does. */
  tunnel(): void;
  /** Ends the TCP connection with RST. */
  reset(): void;
}

export interface ConnectProxy extends RawServer {
  /** `http://127.0.0.1:port` or `https://localhost:port`. */
  readonly url: URL;
  /** The head of each CONNECT, oldest first. */
  readonly heads: string[];
  /** All that clients sent after it. */
  readonly tunnelled: Buffer[];
  /** Subjects of the certificates that clients showed, null for none; https only. */
  readonly clientCertificates: (string | null)[];
  /** The clients' addresses. */
  readonly from: string[];
}

export interface ConnectProxyOptions {
  /** Makes it an https proxy. */
  readonly tls?: TlsOptions;
  /** Instead of `tunnel`. */
  readonly onConnect?: (connect: Connect) => void;
  /** When the client is there, before it has said anything. */
  readonly onClient?: (socket: Socket) => void;
}

/** A CONNECT proxy that tunnels, or does what a test says. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const heads: string[] = [];
  const tunnelled: Buffer[] = [];
  const clientCertificates: (string | null)[] = [];
  const from: string[] = [];
  const onClient = (socket: Socket) => {
    from.push(socket.remoteAddress ?? '');
    options.onClient?.(socket);
    let head = '';
    const onData = (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.removeListener('data', onData);
      heads.push(head);
      // read on, so that the end of the client is seen
      socket.resume();
      const tunnel = () => openTunnel(socket, head, (bytes) => tunnelled.push(bytes));
      const reset = () => void rawOf(socket).resetAndDestroy();
      (options.onConnect ?? ((connect) => connect.tunnel()))({ head, socket, tunnel, reset });
    };
    socket.on('data', onData);
  };
  const rawOf = (socket: Socket) => [...server.sockets].find((raw) => raw.remotePort === socket.remotePort) ?? socket;
  const server: RawServer = options.tls
    ? await startTlsServer(options.tls, (socket) => {
        const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
        clientCertificates.push(subject?.CN ?? null);
        onClient(socket);
      })
    : await startRawServer(onClient);
  const url = new URL(options.tls ? `https://localhost:${server.port}` : `http://127.0.0.1:${server.port}`);
  return Object.assign(Object.create(server) as RawServer, { url, heads, tunnelled, clientCertificates, from });
}

function openTunnel(client: Socket, head: string, onBytes: (bytes: Buffer) => void): void {
  const [, host = '', port = ''] = /^CONNECT \[?([^ \]]+?)\]?:(\d+) /.exec(head) ?? [];
  client.pause();
  const bank = connect(Number(port), host);
  bank.on('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.on('data', onBytes);
    client.pipe(bank).pipe(client);
    client.resume();
  });
  bank.on('error', () => client.destroy());
  client.on('error', () => bank.destroy());
  client.on('close', () => bank.destroy());
  bank.on('close', () => client.destroy());
}

/** The same address with credentials, percent-encoded. */
export function withCredentials(proxy: URL, user: string, password: string): URL {
  const encode = (text: string) => encodeURIComponent(text);
  return new URL(`${proxy.protocol}//${encode(user)}:${encode(password)}@${proxy.host}`);
}

/* The real squid */

const SQUID = '/usr/sbin/squid';
const NCSA_AUTH = '/usr/lib/squid/basic_ncsa_auth';

/** Whether the real proxy is here; says so in one line when not, and is an error in CI. */
export function hasSquid(): boolean {
  return hasTool('squid', existsSync(SQUID) && existsSync(NCSA_AUTH), 'apt-get install squid');
}

/** Whether the openssl command is here, by the same rule. */
export function hasOpenssl(): boolean {
  return hasTool('openssl', spawnSync('openssl', ['version']).status === 0, 'apt-get install openssl');
}

/** Whether a program is here; says so in one line when not, and is an error in CI. */
export function hasTool(name: string, present: boolean, remedy: string): boolean {
  if (present) return true;
  if (process.env['CI']) throw new Error(`${name} is missing (${remedy}), and CI must not skip`);
  process.stderr.write(`skipped: ${name} is missing (${remedy})\n`);
  return false;
}

export interface Squid {
  /** Without credentials. */
  readonly url: URL;
  /** Its access log so far. */
  log(): string;
}

/** The real squid on a free port of 127.0.0.1, which wants Basic authentication and lets through CONNECT to `ports` only. */
export async function startSquid(user: string, password: string, ports: readonly number[]): Promise<Squid> {
  const directory = temporaryDirectory();
  const probe = await startRawServer();
  const { port } = probe;
  await probe.close();
  const file = (name: string) => join(directory, name);
  const hash = execFileSync('openssl', ['passwd', '-apr1', '-stdin'], { input: password, encoding: 'utf8' }).trim();
  writeFileSync(file('users'), `${user}:${hash}\n`);
  writeFileSync(
    file('squid.conf'),
    [
      `http_port 127.0.0.1:${port}`,
      `auth_param basic program ${NCSA_AUTH} ${file('users')}`,
      'auth_param basic children 1',
      'auth_param basic utf8 on',
      'acl known proxy_auth REQUIRED',
      'acl CONNECT method CONNECT',
      `acl banks port ${ports.join(' ')}`,
      'http_access deny !known',
      'http_access deny !CONNECT',
      'http_access deny !banks',
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
  // it gives up root for the user `proxy`, who must be able to write here
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'proxy:proxy', directory]);
  const squid = spawn(SQUID, ['-N', '-f', file('squid.conf')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => squid.once('exit', resolve));
  closers.add(async () => {
    squid.kill('SIGKILL');
    await ended;
  });
  for (let waited = 0; ; waited += 50) {
    if (await accepts(port)) break;
    if (waited > 15_000 || squid.exitCode !== null) {
      throw new Error(
        `squid does not start: ${existsSync(file('cache.log')) ? readFileSync(file('cache.log'), 'utf8') : ''}`,
      );
    }
    await delay(50);
  }
  return { url: new URL(`http://127.0.0.1:${port}`), log: () => readFileSync(file('access.log'), 'utf8') };
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
