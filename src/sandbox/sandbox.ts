import { writeFile } from 'node:fs/promises';
import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import type { ServerOptions } from 'node:https';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { AccessTokens } from './state/access-tokens.js';
import { AccountBook } from './accounts/account-book.js';
import type { Endpoint } from './state/faults.js';
import { createControlServer } from './control/control-server.js';
import { SandboxControl } from './control/sandbox-control.js';
import { createServerCertificate, loadIdentity, renewClientFile } from './identity/identity.js';
import { toSandboxFiles, type IdentityContent, type SandboxFiles } from './identity/identity-files.js';
import { readRecording } from '../recording/read-recording.js';
import { Replay } from '../recording/replay.js';
import { ClientRoots } from './identity/client-roots.js';
import { checkFree, listen, SandboxNotStarted, type Place } from './listen.js';
import { RequestLog, type SeenRequest } from './state/request-log.js';
import { createBankServer } from './service/bank-server.js';
import type { BankState } from './state/bank-state.js';
import type { Script } from './service/serve-request.js';
import { Switches } from './state/switches.js';

/** Settings of the sandbox (docs/settings.md#the-sandbox-bank). Port 0 picks a free one. */
export interface SandboxSettings {
  readonly SANDBOX_HOST: string;
  readonly SANDBOX_PORT: number;
  /** When not set, or the same port: the host and port of the accounts. */
  readonly SANDBOX_AUTH_PORT?: number | undefined;
  readonly SANDBOX_CONTROL_PORT: number;
  /** Names and addresses for the server certificate; `SANDBOX_HOST` is added, unless it is a wildcard. */
  readonly SANDBOX_NAMES: readonly string[];
  readonly SANDBOX_DIRECTORY: string;
  readonly SANDBOX_ACCOUNTS: number;
  readonly SANDBOX_SEED: number;
  readonly SANDBOX_TOKEN_LIFETIME_SECONDS: number;
  readonly SANDBOX_LATENCY_MS: number;
  readonly SANDBOX_ALLOWED_IPS: readonly string[];
}

/** A running sandbox bank. */
export interface Sandbox {
  /** {base_url}, without a trailing slash. */
  readonly url: string;
  /** {auth_url}; the same unless it has a separate port. */
  readonly authUrl: string;
  readonly controlUrl: string;
  /** Its switches, for use within the same process. */
  readonly control: SandboxControl;
  /** Absolute path. */
  readonly directory: string;
  readonly files: SandboxFiles;
  /** True if the files in the directory were unusable and are new. */
  readonly isIdentityReplaced: boolean;
  /** The server of the account list. */
  readonly server: Server;
  /** The last ten thousand requests, oldest first; updated while it runs. */
  readonly requests: ReadonlyArray<SeenRequest>;
  /** Ends everything at once, including hanging calls. May be called twice. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Renews the identity even if a valid one exists. */
  readonly fresh?: boolean;
  /** A recording from `doctor --record`, served instead of generated accounts. */
  readonly replayFile?: string | undefined;
  /** Called when all switches are reset. */
  readonly onReset?: () => void;
  /** Used instead of the identity in the directory, even if that one is damaged. */
  readonly identity?: IdentityContent;
  /** Responds in place of the sandbox. */
  readonly script?: Script;
  /** Replaces single TLS options of the servers. */
  readonly tls?: ServerOptions;
}

/**
 * Starts the sandbox bank.
 * @throws SandboxNotStarted if an address, a port, the directory, the allowlist or the recording cannot be used
 */
export async function startSandbox(settings: SandboxSettings, options: SandboxOptions = {}): Promise<Sandbox> {
  const { SANDBOX_HOST: host, SANDBOX_SEED: seed, SANDBOX_PORT: port, SANDBOX_AUTH_PORT: authPort = port } = settings;
  const directory = resolve(settings.SANDBOX_DIRECTORY);
  const hosts = [...settings.SANDBOX_NAMES, ...(isWildcard(host) ? [] : [host])];
  const names = [...new Set(hosts.map((name) => name.toLowerCase()))];
  const isOneHost = settings.SANDBOX_AUTH_PORT === undefined || (authPort === port && port !== 0);
  const basePlace: Place = { host, port, variable: 'SANDBOX_PORT' };
  const authPlace: Place = { host, port: isOneHost ? 0 : authPort, variable: 'SANDBOX_AUTH_PORT' };
  const controlPlace: Place = { host, port: settings.SANDBOX_CONTROL_PORT, variable: 'SANDBOX_CONTROL_PORT' };
  const replay = options.replayFile === undefined ? null : loadReplay(options.replayFile);
  // before the identity is touched: a running sandbox may use this directory, and --fresh would replace its files
  await checkFree([basePlace, authPlace, controlPlace]);
  const { identity, isReplaced } = options.identity
    ? { identity: options.identity, isReplaced: false }
    : await usingDirectory(directory, () => loadIdentity(directory, options.fresh ?? false));

  const bank: BankState = {
    accounts: new AccountBook(seed),
    username: identity.username,
    log: new RequestLog(),
    replay,
    seed,
    switches: createSwitches(replay ? { ...settings, SANDBOX_ACCOUNTS: replay.count } : settings, identity.password),
    tokens: await AccessTokens.create(),
  };
  const closing = new AbortController();
  const cert = createServerCertificate(identity, names);
  // for servers next to the bank, such as Valkey in docker-compose.yml
  if (!options.identity) {
    await usingDirectory(directory, () => writeFile(join(directory, 'server.pem'), cert, { mode: 0o600 }));
  }
  const roots = new ClientRoots(identity, options.identity ? null : directory);
  const tls = { cert, key: identity.serverKey, ...options.tls };
  const createHost = (...endpoints: Endpoint[]) =>
    createBankServer(bank, { endpoints, tls, roots, closing: closing.signal, script: options.script });
  const base = isOneHost ? createHost('authorize', 'accounts') : createHost('accounts');
  const auth = isOneHost ? null : createHost('authorize');
  const control = new SandboxControl(bank, options.onReset ?? (() => undefined));
  const controlServer = createControlServer(control, names);
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([base, auth, controlServer].map((server) => server && stop(server)));
  };
  try {
    const basePort = await listen(base, basePlace);
    const tokenPort = auth ? await listen(auth, authPlace) : basePort;
    const controlPort = await listen(controlServer, controlPlace);
    const name = toReachable(host, names);
    return {
      url: `https://${name}:${basePort}`,
      authUrl: `https://${name}:${tokenPort}`,
      controlUrl: `http://${name}:${controlPort}`,
      control,
      directory,
      files: toSandboxFiles(directory),
      isIdentityReplaced: isReplaced,
      server: base,
      requests: bank.log.all,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws SandboxNotStarted if the file is not a recording */
function loadReplay(file: string): Replay {
  try {
    return new Replay(readRecording(file));
  } catch (cause) {
    throw new SandboxNotStarted(`--replay: ${(cause as Error).message}.`, { cause });
  }
}

function createSwitches(settings: SandboxSettings, password: string): Switches {
  try {
    return new Switches({
      latencyMs: settings.SANDBOX_LATENCY_MS,
      tokenLifetimeSeconds: settings.SANDBOX_TOKEN_LIFETIME_SECONDS,
      allowedIps: settings.SANDBOX_ALLOWED_IPS,
      unlisted: '403',
      accounts: settings.SANDBOX_ACCOUNTS,
      grantAccess: true,
      movement: false,
      password,
      failNext: [],
    });
  } catch (cause) {
    throw new SandboxNotStarted(`SANDBOX_ALLOWED_IPS: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Renews the client certificate in the directory. Returns false if the whole identity is new because the old one was
 * unusable.
 * @throws SandboxNotStarted if the directory is not writable
 */
export function renewSandboxClient(directory: string, { newCa = false } = {}): Promise<boolean> {
  return usingDirectory(directory, () => renewClientFile(directory, newCa));
}

/** Reads or writes the identity. @throws SandboxNotStarted if the directory is unusable */
async function usingDirectory<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new SandboxNotStarted(
      `The sandbox's identity cannot be kept in ${directory} (SANDBOX_DIRECTORY): ${(cause as Error).message}. Name a directory that this user may write, for example SANDBOX_DIRECTORY=/tmp/sandbox.`,
      { cause },
    );
  }
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** A name that the certificate covers and that leads here: preferably 127.0.0.1, because localhost may mean ::1. */
function toReachable(host: string, names: readonly string[]): string {
  const name = isWildcard(host) ? (names.find((each) => each === '127.0.0.1') ?? names[0] ?? 'localhost') : host;
  return isIP(name) === 6 ? `[${name}]` : name;
}

/** The bank's own connections have ended: `closing` was aborted. */
async function stop(server: Server): Promise<void> {
  if (server instanceof HttpServer) server.closeAllConnections();
  if (!server.listening) return;
  await new Promise((done) => server.close(done));
}
