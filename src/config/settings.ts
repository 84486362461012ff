import type { SandboxSettings } from '../sandbox/sandbox.js';

/** A secret and where it comes from; `read` looks again, so that a changed file is seen. */
export interface SecretSource {
  /** For messages: the variable that gives it. */
  readonly variable: string;
  /** The file it is read from, or null when it stands in the environment. */
  readonly file: string | null;
  /** @throws FileUnusable */
  read(): string;
}

/** What the gateway identifies itself with at the bank. */
export interface IdentitySettings {
  readonly username: SecretSource;
  readonly password: SecretSource;
  /** The PFX: a file, or its base64 text. */
  readonly pfx: { readonly file: string } | { readonly base64: SecretSource };
  readonly passcode: SecretSource;
  /** PEM file with the only roots trusted for the bank, or null for the runtime's own. */
  readonly caFile: string | null;
}

/** Which bank is talked to, and as whom. */
export interface BankSettings {
  readonly mode: 'live' | 'sandbox';
  /** {base_url}, without trailing slash. */
  readonly baseUrl: string;
  /** {auth_url}, without trailing slash. */
  readonly authUrl: string;
  readonly identity: IdentitySettings;
}

/** How the bank is reached, and the limits of one call. */
export interface EgressSettings {
  /** The highest version of TLS spoken with the bank. */
  readonly tlsMaxVersion: '1.2' | '1.3';
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxConcurrentRequests: number;
  readonly maxResponseBytes: number;
  /** null: direct. */
  readonly proxy: URL | null;
  readonly noProxy: string;
  readonly proxyCaFile: string | null;
  readonly localAddress: string | null;
}

/** How old the accounts may be (docs/settings.md#how-old-an-answer-may-be), and the limits of one reading. */
export interface SnapshotSettings {
  readonly freshMs: number;
  readonly softTimeoutMs: number;
  readonly maxAgeMs: number;
  readonly readTimeoutMs: number;
  /** PageSize used towards the bank. */
  readonly pageSize: number;
  /** How long a caller waits at most. */
  readonly requestDeadlineMs: number;
  readonly maxRequestsWaiting: number;
}

/** What is shared with other instances and kept over restarts (docs/fleet.md). */
export interface SharingSettings {
  /** null: every instance is on its own. */
  readonly redis: {
    /** May hold user and password. */
    readonly url: SecretSource;
    readonly caFile: string | null;
    readonly keyPrefix: string;
  } | null;
  /** Where the last complete reading is kept, or null. */
  readonly file: string | null;
  /** Holds the key for sealing; null for one derived from the private key. */
  readonly keyFile: string | null;
}

/** Where the internal API listens, who may call, and its limits. */
export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedClients: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly maxConnections: number;
  /** `:*` at the end of one stands for any port. */
  readonly corsOrigins: readonly string[];
  readonly shutdownDelayMs: number;
  readonly shutdownGraceMs: number;
}

/** All settings, checked and frozen; each room is given its slice. Also the token it is injected by. */
export abstract class Settings {
  abstract readonly production: boolean;
  abstract readonly logLevel: string;
  abstract readonly egress: EgressSettings;
  abstract readonly snapshot: SnapshotSettings;
  abstract readonly sharing: SharingSettings;
  abstract readonly http: HttpSettings;
  abstract readonly sandbox: SandboxSettings;
  abstract readonly bank: BankSettings;
}

/** What every command needs, whichever bank it talks to. */
export type CommonSettings = Omit<Settings, 'bank'>;
