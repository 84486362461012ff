import { z } from 'zod';
import * as kinds from './kinds.js';

/** The parts of docs/settings.md, in their order. */
export const GROUPS = {
  bank: 'The bank and the account there',
  calls: 'Calls to the bank',
  egress: 'The route to the bank',
  freshness: 'How old an answer may be',
  sharing: 'More than one machine, and restarts',
  http: 'The internal API',
  process: 'The process',
  sandbox: 'The sandbox bank',
} as const;

/** A setting, as docs/settings.md and config/*.env.example show it. */
export interface Variable {
  readonly group: keyof typeof GROUPS;
  /** Takes the text of the variable; its description says what is allowed. */
  readonly schema: z.ZodType<unknown, string>;
  /** What holds when it is not set, as an operator would write it. */
  readonly default?: string;
  /** Where there is no such value: what happens instead, in words. */
  readonly unset?: string;
  /** Shown with every fault; in the table the default where it says no other. */
  readonly example: string;
  /** One line for operators. */
  readonly meaning: string;
  /** May also be given as a file, `X_FILE`, and is never shown. */
  readonly secret?: true;
  /** A line of config/bank.env.example that wants filling in; a secret by its file. */
  readonly fillIn?: true;
}

type Row = Variable | (Omit<Variable, 'example'> & { readonly default: string });

const TABLE = {
  BANK_BASE_URL: {
    group: 'bank',
    schema: kinds.httpsAddress,
    unset: 'required',
    example: 'https://api.bank.example',
    meaning: 'Address of the account service; a path prefix is fine.',
    fillIn: true,
  },
  BANK_AUTH_URL: {
    group: 'bank',
    schema: kinds.httpsAddress,
    unset: 'the value of `BANK_BASE_URL`',
    example: 'https://auth.bank.example',
    meaning: 'Address of the token service.',
  },
  BANK_USERNAME: {
    group: 'bank',
    schema: kinds.userName,
    unset: 'required',
    example: 'm2m-user',
    meaning: 'User name of the M2M account.',
    secret: true,
    fillIn: true,
  },
  BANK_PASSWORD: {
    group: 'bank',
    schema: kinds.password,
    unset: 'required',
    example: "'a password with # in it'",
    meaning: 'Password of the M2M account.',
    secret: true,
    fillIn: true,
  },
  BANK_PFX_FILE: {
    group: 'bank',
    schema: kinds.path,
    unset: 'required, or `BANK_PFX_BASE64`',
    example: '/run/secrets/client.pfx',
    meaning: 'The client certificate with its key, a PFX (PKCS#12) file.',
    fillIn: true,
  },
  BANK_PFX_BASE64: {
    group: 'bank',
    schema: z.string().describe('base64'),
    unset: 'none',
    example: 'MIIKPAIBAzCC...',
    meaning: 'The same as text, in place of `BANK_PFX_FILE`: the output of `base64 -w0 client.pfx`.',
    secret: true,
  },
  BANK_PFX_PASSCODE: {
    group: 'bank',
    schema: z.string().describe('text'),
    unset: 'empty',
    example: "'a passcode'",
    meaning: 'Passcode of the PFX.',
    secret: true,
    fillIn: true,
  },
  BANK_CA_FILE: {
    group: 'bank',
    schema: kinds.pemFile,
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/bank-ca.pem',
    meaning: 'The only roots trusted for the servers of the bank.',
  },
  BANK_TLS_MAX_VERSION: {
    group: 'bank',
    schema: kinds.oneOf(['1.2', '1.3']),
    default: '1.3',
    example: '1.2',
    meaning: '`1.2` for a bank that asks for the client certificate only after the handshake.',
  },
  BANK_CONNECT_TIMEOUT_MS: {
    group: 'calls',
    schema: kinds.wholeNumber(1, 300_000),
    default: '3000',
    meaning: 'DNS, TCP, proxy and TLS together.',
  },
  BANK_REQUEST_TIMEOUT_MS: {
    group: 'calls',
    schema: kinds.wholeNumber(1, 600_000),
    default: '10000',
    meaning: 'One whole call to the bank, body included.',
  },
  BANK_MAX_CONCURRENT_REQUESTS: {
    group: 'calls',
    schema: kinds.wholeNumber(1, 100),
    default: '6',
    meaning: 'Calls to the bank in flight at once.',
  },
  BANK_PAGE_SIZE: {
    group: 'calls',
    schema: kinds.wholeNumber(1, 5000),
    default: '1000',
    meaning: 'Accounts asked for in one call; made smaller by itself when the bank refuses it.',
  },
  BANK_MAX_RESPONSE_BYTES: {
    group: 'calls',
    schema: kinds.wholeNumber(1024, 1_073_741_824),
    default: '33554432',
    meaning: 'A larger answer of the bank (after decompression) is refused.',
  },
  EGRESS_PROXY_URL: {
    group: 'egress',
    schema: kinds.proxyAddress,
    unset: 'the value of `HTTPS_PROXY`',
    example: 'http://proxy.example:3128',
    meaning: 'CONNECT proxy, with `user:password@` if it wants them; `direct` uses none, whatever `HTTPS_PROXY` says.',
    secret: true,
  },
  EGRESS_NO_PROXY: {
    group: 'egress',
    schema: z.string().describe('hosts, with commas'),
    unset: 'the value of `NO_PROXY`',
    example: '.internal.example',
    meaning: 'Hosts that are called without the proxy.',
  },
  EGRESS_PROXY_CA_FILE: {
    group: 'egress',
    schema: kinds.pemFile,
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/proxy-ca.pem',
    meaning: 'The only roots trusted for a proxy that is reached by https://.',
  },
  EGRESS_LOCAL_ADDRESS: {
    group: 'egress',
    schema: kinds.ipAddress,
    unset: 'chosen by the system',
    example: '192.0.2.10',
    meaning: 'Source address of calls to the bank, on a machine with several.',
  },
  SNAPSHOT_FRESH_MS: {
    group: 'freshness',
    schema: kinds.wholeNumber(0, 86_400_000),
    default: '10000',
    meaning: 'An answer this young is served without asking the bank.',
  },
  SNAPSHOT_SOFT_TIMEOUT_MS: {
    group: 'freshness',
    schema: kinds.wholeNumber(0, 600_000),
    default: '1000',
    meaning: 'After this a caller gets the older copy, marked stale, while the bank is still being asked.',
  },
  SNAPSHOT_MAX_AGE_MS: {
    group: 'freshness',
    schema: kinds.wholeNumber(0, 86_400_000),
    default: '300000',
    meaning: 'A copy older than this is never served.',
  },
  SNAPSHOT_READ_TIMEOUT_MS: {
    group: 'freshness',
    schema: kinds.wholeNumber(1, 3_600_000),
    default: '60000',
    meaning: 'One whole reading of the account list, with all its pages and repeats.',
  },
  REQUEST_DEADLINE_MS: {
    group: 'freshness',
    schema: kinds.wholeNumber(1, 600_000),
    default: '15000',
    meaning: 'How long a caller waits at most for their answer.',
  },
  REDIS_URL: {
    group: 'sharing',
    schema: kinds.redisAddress,
    unset: 'none: every instance is on its own',
    example: 'rediss://gateway:password@redis.internal.example:6379',
    meaning: 'Redis (6.2 or newer) or Valkey, by which instances share one token and one reading.',
    secret: true,
  },
  REDIS_CA_FILE: {
    group: 'sharing',
    schema: kinds.pemFile,
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/redis-ca.pem',
    meaning: 'The only roots trusted for a Redis that is reached by rediss://.',
  },
  REDIS_KEY_PREFIX: {
    group: 'sharing',
    schema: kinds.keyPrefix,
    default: 'accounts-gateway:',
    meaning: 'All keys and channels begin with it.',
  },
  SNAPSHOT_FILE: {
    group: 'sharing',
    schema: kinds.path,
    unset: 'none: after a restart the bank is read first',
    example: '/var/lib/accounts-gateway/snapshot',
    meaning: 'Where the last complete reading is kept over restarts, sealed.',
  },
  SNAPSHOT_KEY_FILE: {
    group: 'sharing',
    schema: kinds.path,
    unset: 'a key derived from the private key of the client certificate',
    example: '/run/secrets/snapshot-key',
    meaning: 'Key for sealing what is shared and kept: 32 bytes as base64 or hex (`openssl rand -base64 32`).',
  },
  HOST: {
    group: 'http',
    schema: kinds.listenHost,
    default: '127.0.0.1',
    meaning: 'Where it listens; beyond loopback, `ALLOWED_HOSTS` and `ALLOWED_CLIENTS` must be set.',
  },
  PORT: {
    group: 'http',
    schema: kinds.port,
    default: '3000',
    meaning: 'Its port; 0 takes any free one.',
  },
  ALLOWED_HOSTS: {
    group: 'http',
    schema: kinds.hostNames,
    default: 'localhost,127.0.0.1,[::1]',
    example: 'accounts.internal.example,localhost',
    meaning: 'Names that callers may use for it (the header `Host`).',
  },
  ALLOWED_CLIENTS: {
    group: 'http',
    schema: kinds.clients,
    default: 'loopback',
    example: '10.1.0.0/16,loopback',
    meaning:
      'Who may call, by the address of the connection; `private` includes loopback; X-Forwarded-For is not looked at.',
  },
  TLS_CERT_FILE: {
    group: 'http',
    schema: kinds.pemFile,
    unset: 'none: plain HTTP',
    example: '/etc/accounts-gateway/server.pem',
    meaning: 'Certificate of the internal API, which then speaks HTTPS; goes with `TLS_KEY_FILE`.',
  },
  TLS_KEY_FILE: {
    group: 'http',
    schema: kinds.pemFile,
    unset: 'none',
    example: '/etc/accounts-gateway/server.key',
    meaning: 'Its key, not encrypted.',
  },
  CORS_ORIGINS: {
    group: 'http',
    schema: kinds.origins,
    unset: 'none; with `--sandbox` any port of `http://localhost` and `http://127.0.0.1`',
    example: 'https://treasury.example',
    meaning: 'Web apps whose pages may call it from a browser.',
  },
  MAX_CONNECTIONS: {
    group: 'http',
    schema: kinds.wholeNumber(1, 1_000_000),
    default: '5000',
    meaning:
      'Open connections of those who may call; others have a tenth as many beside them. 100 more are let in, each for one brief request: a probe, or to be told `overloaded`.',
  },
  MAX_REQUESTS_WAITING: {
    group: 'http',
    schema: kinds.wholeNumber(1, 1_000_000),
    default: '2000',
    meaning:
      'Callers that wait for the bank at once; more get `overloaded`, those first whose address has the most waiting.',
  },
  SHUTDOWN_DELAY_MS: {
    group: 'process',
    schema: kinds.wholeNumber(0, 600_000),
    default: '0',
    example: '5000',
    meaning: 'After SIGTERM: not ready but still serving, so that a balancer can look away.',
  },
  SHUTDOWN_GRACE_MS: {
    group: 'process',
    schema: kinds.wholeNumber(0, 600_000),
    default: '10000',
    meaning: 'After that: how long calls in flight may still take.',
  },
  LOG_LEVEL: {
    group: 'process',
    schema: kinds.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    meaning: 'The lowest level of lines to write; `debug` adds one for each call to the bank.',
  },
  SANDBOX_HOST: {
    group: 'sandbox',
    schema: kinds.listenHost,
    default: '127.0.0.1',
    meaning: 'Where it listens.',
  },
  SANDBOX_PORT: {
    group: 'sandbox',
    schema: kinds.port,
    default: '8443',
    meaning: 'Its port; 0 takes any free one.',
  },
  SANDBOX_AUTH_PORT: {
    group: 'sandbox',
    schema: kinds.port,
    unset: 'the value of `SANDBOX_PORT`',
    example: '8445',
    meaning: 'Another port makes the token service a host of its own.',
  },
  SANDBOX_CONTROL_PORT: {
    group: 'sandbox',
    schema: kinds.port,
    default: '8444',
    meaning: 'Port of its switches, plain HTTP, on `SANDBOX_HOST`.',
  },
  SANDBOX_NAMES: {
    group: 'sandbox',
    schema: kinds.names,
    default: 'localhost,127.0.0.1',
    meaning: 'Names and addresses in its server certificate; `SANDBOX_HOST` is added.',
  },
  SANDBOX_DIRECTORY: {
    group: 'sandbox',
    schema: kinds.path,
    default: '.sandbox',
    meaning: 'Where its CA, client PFX, passcode, user name and password are written (mode 700).',
  },
  SANDBOX_ACCOUNTS: {
    group: 'sandbox',
    schema: kinds.wholeNumber(0, 1_000_000),
    default: '120',
    meaning: 'How many accounts it has.',
  },
  SANDBOX_SEED: {
    group: 'sandbox',
    schema: kinds.wholeNumber(0, 2_147_483_647),
    default: '1',
    meaning: 'The same seed gives the same accounts.',
  },
  SANDBOX_TOKEN_LIFETIME_SECONDS: {
    group: 'sandbox',
    schema: kinds.wholeNumber(1, 86_400),
    default: '300',
    meaning: 'How long its tokens are good for.',
  },
  SANDBOX_LATENCY_MS: {
    group: 'sandbox',
    schema: kinds.wholeNumber(0, 600_000),
    default: '0',
    example: '200',
    meaning: 'Added to each of its answers.',
  },
  SANDBOX_ALLOWED_IPS: {
    group: 'sandbox',
    schema: kinds.cidrs,
    default: '127.0.0.1,::1',
    meaning: 'Its white-list.',
  },
} as const satisfies Readonly<Record<string, Row>>;

export type VariableName = keyof typeof TABLE;

/** Every setting there is: the one source of defaults, of docs/settings.md and of config/*.env.example. */
export const VARIABLES = Object.fromEntries(
  Object.entries<Row>(TABLE).map(([name, row]) => [name, { example: row.default, ...row }]),
) as unknown as { readonly [Name in VariableName]: (typeof TABLE)[Name] & Omit<Variable, 'schema'> };

export const VARIABLE_NAMES = Object.keys(TABLE) as VariableName[];

/** The value of each setting; undefined only where it has no default. */
export type Values = {
  readonly [Name in VariableName]:
    | z.output<(typeof TABLE)[Name]['schema']>
    | ((typeof TABLE)[Name] extends { readonly default: string } ? never : undefined);
};

/** Every name that may stand in the environment, the `_FILE` forms of secrets included. */
export const KNOWN_NAMES: readonly string[] = VARIABLE_NAMES.flatMap((name) =>
  VARIABLES[name].secret ? [name, `${name}_FILE`] : [name],
);
