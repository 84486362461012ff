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

/** A setting for operators, as docs/settings.md and config/*.env.example show it. */
interface About {
  readonly group: keyof typeof GROUPS;
  /** One line. */
  readonly meaning: string;
  /** Shown with every error; the default where there is none. */
  readonly example?: string;
  /** What happens without a value, where there is no default. */
  readonly unset?: string;
  /** May also be given as a file, `X_FILE`, and is never shown. */
  readonly secret?: true;
  /** A line of config/bank.env.example to fill in; a secret by its file. */
  readonly fillIn?: true;
}

/** Every setting: the only source of defaults, of docs/settings.md and of config/*.env.example. Takes text, as the environment has it. */
export const settingsSchema = z.object({
  BANK_BASE_URL: kinds.httpsAddress.optional().meta({
    group: 'bank',
    unset: 'required',
    example: 'https://api.bank.example',
    meaning: 'Address of the account service; a path prefix is fine.',
    fillIn: true,
  } satisfies About),
  BANK_AUTH_URL: kinds.httpsAddress.optional().meta({
    group: 'bank',
    unset: 'the value of `BANK_BASE_URL`',
    example: 'https://auth.bank.example',
    meaning: 'Address of the token service.',
  } satisfies About),
  BANK_USERNAME: kinds.userName.optional().meta({
    group: 'bank',
    unset: 'required',
    example: 'm2m-user',
    meaning: 'User name of the M2M account.',
    secret: true,
    fillIn: true,
  } satisfies About),
  BANK_PASSWORD: kinds.password.optional().meta({
    group: 'bank',
    unset: 'required',
    example: "'a password with # in it'",
    meaning: 'Password of the M2M account.',
    secret: true,
    fillIn: true,
  } satisfies About),
  BANK_PFX_FILE: kinds.path.optional().meta({
    group: 'bank',
    unset: 'required, or `BANK_PFX_BASE64`, or `BANK_CERT_FILE` with `BANK_KEY_FILE`',
    example: '/run/secrets/client.pfx',
    meaning: 'The client certificate with its key, a PFX (PKCS#12) file.',
    fillIn: true,
  } satisfies About),
  BANK_PFX_BASE64: z
    .string()
    .describe('base64')
    .optional()
    .meta({
      group: 'bank',
      unset: 'none',
      example: 'MIIKPAIBAzCC...',
      meaning: 'The same as text, in place of `BANK_PFX_FILE`: the output of `base64 -w0 client.pfx`.',
      secret: true,
    } satisfies About),
  BANK_PFX_PASSCODE: z
    .string()
    .describe('text')
    .optional()
    .meta({
      group: 'bank',
      unset: 'empty',
      example: "'a passcode'",
      meaning: 'Passcode of the PFX.',
      secret: true,
      fillIn: true,
    } satisfies About),
  BANK_CERT_FILE: kinds.path
    .describe('path of a PEM file')
    .optional()
    .meta({
      group: 'bank',
      unset: 'none: the PFX is used',
      example: '/run/secrets/client.pem',
      meaning: 'The client certificate as PEM, with its chain, in place of a PFX; goes with `BANK_KEY_FILE`.',
    } satisfies About),
  BANK_KEY_FILE: kinds.path
    .describe('path of a PEM file')
    .optional()
    .meta({
      group: 'bank',
      unset: 'none',
      example: '/run/secrets/client.key',
      meaning: 'The private key of `BANK_CERT_FILE`, as PEM.',
    } satisfies About),
  BANK_KEY_PASSPHRASE: z
    .string()
    .describe('text')
    .optional()
    .meta({
      group: 'bank',
      unset: 'empty',
      example: "'a passphrase'",
      meaning: 'Passphrase of `BANK_KEY_FILE`, if it is encrypted.',
      secret: true,
    } satisfies About),
  BANK_CA_FILE: kinds.pemFile.optional().meta({
    group: 'bank',
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/bank-ca.pem',
    meaning: 'The only roots trusted for the servers of the bank.',
  } satisfies About),
  BANK_TLS_MAX_VERSION: kinds
    .oneOf(['1.2', '1.3'])
    .prefault('1.3')
    .meta({
      group: 'bank',
      example: '1.2',
      meaning: '`1.2` for a bank that asks for the client certificate only after the handshake.',
    } satisfies About),
  BANK_CONNECT_TIMEOUT_MS: kinds
    .wholeNumber(1, 300_000)
    .prefault('3000')
    .meta({
      group: 'calls',
      meaning: 'DNS, TCP, proxy and TLS together.',
    } satisfies About),
  BANK_REQUEST_TIMEOUT_MS: kinds
    .wholeNumber(1, 600_000)
    .prefault('10000')
    .meta({
      group: 'calls',
      meaning: 'One whole call to the bank, body included.',
    } satisfies About),
  BANK_MAX_CONCURRENT_REQUESTS: kinds
    .wholeNumber(1, 100)
    .prefault('6')
    .meta({
      group: 'calls',
      meaning: 'Calls to the bank in flight at once.',
    } satisfies About),
  BANK_PAGE_SIZE: kinds
    .wholeNumber(1, 5000)
    .prefault('1000')
    .meta({
      group: 'calls',
      meaning: 'Accounts asked for in one call; the gateway asks for fewer when the bank refuses it.',
    } satisfies About),
  BANK_MAX_RESPONSE_BYTES: kinds
    .wholeNumber(1024, 1_073_741_824)
    .prefault('33554432')
    .meta({
      group: 'calls',
      meaning: 'A larger answer of the bank (after decompression) is refused.',
    } satisfies About),
  EGRESS_PROXY_URL: kinds.proxyAddress.optional().meta({
    group: 'egress',
    unset: 'the value of `HTTPS_PROXY`',
    example: 'http://proxy.example:3128',
    meaning: 'CONNECT proxy, with `user:password@` if it wants them; `direct` uses none, whatever `HTTPS_PROXY` says.',
    secret: true,
  } satisfies About),
  EGRESS_NO_PROXY: z
    .string()
    .describe('hosts, with commas')
    .optional()
    .meta({
      group: 'egress',
      unset: 'the value of `NO_PROXY`',
      example: '.internal.example',
      meaning: 'Hosts that are called without the proxy.',
    } satisfies About),
  EGRESS_PROXY_CA_FILE: kinds.pemFile.optional().meta({
    group: 'egress',
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/proxy-ca.pem',
    meaning: 'The only roots trusted for a proxy that is reached by https://.',
  } satisfies About),
  EGRESS_LOCAL_ADDRESS: kinds.ipAddress.optional().meta({
    group: 'egress',
    unset: 'chosen by the system',
    example: '192.0.2.10',
    meaning: 'Source address of calls to the bank, on a machine with several.',
  } satisfies About),
  SNAPSHOT_FRESH_MS: kinds
    .wholeNumber(0, 86_400_000)
    .prefault('10000')
    .meta({
      group: 'freshness',
      meaning: 'An answer this young is served without asking the bank.',
    } satisfies About),
  SNAPSHOT_SOFT_TIMEOUT_MS: kinds
    .wholeNumber(0, 600_000)
    .prefault('1000')
    .meta({
      group: 'freshness',
      meaning: 'After this a caller gets the older copy, marked stale, while the bank is still being asked.',
    } satisfies About),
  SNAPSHOT_MAX_AGE_MS: kinds
    .wholeNumber(0, 86_400_000)
    .prefault('300000')
    .meta({
      group: 'freshness',
      meaning: 'A copy older than this is never served.',
    } satisfies About),
  SNAPSHOT_READ_TIMEOUT_MS: kinds
    .wholeNumber(1, 3_600_000)
    .prefault('60000')
    .meta({
      group: 'freshness',
      meaning: 'One whole refresh, with all its pages and retries.',
    } satisfies About),
  REQUEST_DEADLINE_MS: kinds
    .wholeNumber(1, 600_000)
    .prefault('15000')
    .meta({
      group: 'freshness',
      meaning: 'The longest a caller waits for an answer.',
    } satisfies About),
  REDIS_URL: kinds.redisAddress.optional().meta({
    group: 'sharing',
    unset: 'none: every instance works alone',
    example: 'rediss://gateway:password@redis.internal.example:6379',
    meaning: 'Redis (6.2 or newer) or Valkey, through which instances share the snapshot.',
    secret: true,
  } satisfies About),
  REDIS_CA_FILE: kinds.pemFile.optional().meta({
    group: 'sharing',
    unset: 'the roots of Node',
    example: '/etc/accounts-gateway/redis-ca.pem',
    meaning: 'The only roots trusted for a Redis that is reached by rediss://.',
  } satisfies About),
  REDIS_KEY_PREFIX: kinds.keyPrefix.prefault('accounts-gateway:').meta({
    group: 'sharing',
    meaning: 'All keys and channels begin with it.',
  } satisfies About),
  SNAPSHOT_FILE: kinds.path.optional().meta({
    group: 'sharing',
    unset: 'none: after a restart the bank is asked first',
    example: '/var/lib/accounts-gateway/snapshot',
    meaning: 'Where the last good snapshot is kept over restarts, encrypted.',
  } satisfies About),
  SNAPSHOT_KEY_FILE: kinds.path.optional().meta({
    group: 'sharing',
    unset: 'a key derived from the private key of the client certificate',
    example: '/run/secrets/snapshot-key',
    meaning:
      'Key that encrypts the shared and the stored snapshot: 32 bytes as base64 or hex (`openssl rand -base64 32`).',
  } satisfies About),
  HOST: kinds.listenHost.prefault('127.0.0.1').meta({
    group: 'http',
    meaning: 'Where it listens; beyond loopback, `ALLOWED_HOSTS` and `ALLOWED_CLIENTS` must be set.',
  } satisfies About),
  PORT: kinds.port.prefault('3000').meta({
    group: 'http',
    meaning: 'Its port; 0 takes any free one.',
  } satisfies About),
  ALLOWED_HOSTS: kinds.hostNames.prefault('localhost,127.0.0.1,[::1]').meta({
    group: 'http',
    example: 'accounts.internal.example,localhost',
    meaning: 'Names that callers may use for it (the header `Host`).',
  } satisfies About),
  ALLOWED_CLIENTS: kinds.clients.prefault('loopback').meta({
    group: 'http',
    example: '10.1.0.0/16,loopback',
    meaning:
      'Who may call, by the address of the connection; `private` includes loopback; X-Forwarded-For is not looked at.',
  } satisfies About),
  TLS_CERT_FILE: kinds.pemFile.optional().meta({
    group: 'http',
    unset: 'none: plain HTTP',
    example: '/etc/accounts-gateway/server.pem',
    meaning: 'Certificate of the internal API, which then speaks HTTPS; goes with `TLS_KEY_FILE`.',
  } satisfies About),
  TLS_KEY_FILE: kinds.pemFile.optional().meta({
    group: 'http',
    unset: 'none',
    example: '/etc/accounts-gateway/server.key',
    meaning: 'Its key, not encrypted.',
  } satisfies About),
  CORS_ORIGINS: kinds.origins.optional().meta({
    group: 'http',
    unset: 'none; with `--sandbox` any port of `http://localhost` and `http://127.0.0.1`',
    example: 'https://treasury.example',
    meaning: 'Web apps whose pages may call it from a browser.',
  } satisfies About),
  MAX_CONNECTIONS: kinds
    .wholeNumber(1, 1_000_000)
    .prefault('5000')
    .meta({
      group: 'http',
      meaning: 'Open connections; more are closed at once.',
    } satisfies About),
  MAX_REQUESTS_WAITING: kinds
    .wholeNumber(1, 1_000_000)
    .prefault('2000')
    .meta({
      group: 'http',
      meaning: 'Callers that may wait for the bank at once; more get `overloaded`.',
    } satisfies About),
  SHUTDOWN_DELAY_MS: kinds
    .wholeNumber(0, 600_000)
    .prefault('0')
    .meta({
      group: 'process',
      example: '5000',
      meaning: 'After SIGTERM: not ready but still serving, so that load balancers drain.',
    } satisfies About),
  SHUTDOWN_GRACE_MS: kinds
    .wholeNumber(0, 600_000)
    .prefault('10000')
    .meta({
      group: 'process',
      meaning: 'After that: how long calls in flight may still take.',
    } satisfies About),
  ENVIRONMENT: kinds
    .freeText(40)
    .optional()
    .meta({
      group: 'process',
      unset: 'none',
      example: 'production',
      meaning: 'Name of this installation, shown on the console page, in `/health` and in `gateway.started`.',
    } satisfies About),
  LOG_LEVEL: kinds
    .oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .prefault('info')
    .meta({
      group: 'process',
      meaning: 'The lowest level of lines to write; `debug` adds one for each call to the bank.',
    } satisfies About),
  SANDBOX_HOST: kinds.listenHost.prefault('127.0.0.1').meta({
    group: 'sandbox',
    meaning: 'Where it listens.',
  } satisfies About),
  SANDBOX_PORT: kinds.port.prefault('8443').meta({
    group: 'sandbox',
    meaning: 'Its port; 0 takes any free one.',
  } satisfies About),
  SANDBOX_AUTH_PORT: kinds.port.optional().meta({
    group: 'sandbox',
    unset: 'the value of `SANDBOX_PORT`',
    example: '8445',
    meaning: 'Another port makes the token service a host of its own.',
  } satisfies About),
  SANDBOX_CONTROL_PORT: kinds.port.prefault('8444').meta({
    group: 'sandbox',
    meaning: 'Port of its switches, plain HTTP, on `SANDBOX_HOST`.',
  } satisfies About),
  SANDBOX_NAMES: kinds.names.prefault('localhost,127.0.0.1').meta({
    group: 'sandbox',
    meaning: 'Names and addresses in its server certificate; `SANDBOX_HOST` is added.',
  } satisfies About),
  SANDBOX_DIRECTORY: kinds.path.prefault('.sandbox').meta({
    group: 'sandbox',
    meaning: 'Where its CA, client PFX, passcode, user name and password are written (mode 700).',
  } satisfies About),
  SANDBOX_ACCOUNTS: kinds
    .wholeNumber(0, 1_000_000)
    .prefault('120')
    .meta({
      group: 'sandbox',
      meaning: 'How many accounts it has.',
    } satisfies About),
  SANDBOX_SEED: kinds
    .wholeNumber(0, 2_147_483_647)
    .prefault('1')
    .meta({
      group: 'sandbox',
      meaning: 'The same seed gives the same accounts.',
    } satisfies About),
  SANDBOX_TOKEN_LIFETIME_SECONDS: kinds
    .wholeNumber(1, 86_400)
    .prefault('300')
    .meta({
      group: 'sandbox',
      meaning: 'How long its tokens are good for.',
    } satisfies About),
  SANDBOX_LATENCY_MS: kinds
    .wholeNumber(0, 600_000)
    .prefault('0')
    .meta({
      group: 'sandbox',
      example: '200',
      meaning: 'Added to each of its answers.',
    } satisfies About),
  SANDBOX_ALLOWED_IPS: kinds.cidrs.prefault('127.0.0.1,::1').meta({
    group: 'sandbox',
    meaning: 'Its allowlist.',
  } satisfies About),
});

export type SettingName = keyof typeof settingsSchema.shape;

export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];

interface Description extends About {
  readonly example: string;
  /** What is allowed, in words. */
  readonly allowed: string;
  /** Text as an operator would write it. */
  readonly default?: string | undefined;
}

/** What is known of a setting, for documents, messages and warnings. */
export function describeSetting(name: SettingName): Description {
  const schema = settingsSchema.shape[name];
  const about = schema.meta() as unknown as About;
  const otherwise = schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined;
  const allowed = schema.unwrap().description ?? '';
  return { ...about, allowed, default: otherwise, example: about.example ?? otherwise ?? '' };
}

export const SECRET_NAMES = SETTING_NAMES.filter((name) => describeSetting(name).secret);

/** Every name that may be in the environment, the `_FILE` forms of secrets included. */
export const KNOWN_NAMES: readonly string[] = SETTING_NAMES.flatMap((name) =>
  SECRET_NAMES.includes(name) ? [name, `${name}_FILE`] : [name],
);

/** Settings that had another name once. */
export const RENAMED: Readonly<Record<string, SettingName>> = { SNAPSHOT_STALE_MS: 'SNAPSHOT_MAX_AGE_MS' };
