import { z } from 'zod';
import * as kinds from './kinds.js';
import { readSnapshotKey } from '../files/small-file.js';

/** A setting for operators: docs/settings.md and config/*.env.example are generated from it. */
interface About {
  /** What the setting does and, if that is not obvious, when to change it. */
  readonly meaning: string;
  /** Value in the example, as in `.env`. Default: the setting's default. */
  readonly example?: string;
  /** Effect of leaving it unset, if the default does not show it. */
  readonly unset?: string;
  /** True if it may also be set through a file, `X_FILE`, and is never shown. */
  readonly secret?: true;
  /** Variables of other programs to read if it is not set, in this order. */
  readonly inherits?: readonly string[];
}

const optional = <Kind extends z.ZodType<unknown, string>>(kind: Kind, about: About & { readonly example: string }) =>
  kind.optional().meta({ ...about });

/** Must be set, unless the sandbox provides it. */
const required = <Kind extends z.ZodType<unknown, string>>(kind: Kind, about: About & { readonly example: string }) =>
  kind.meta({ ...about });

const withDefault = <Kind extends z.ZodType<unknown, string>>(kind: Kind, text: z.input<Kind>, about: About) =>
  kind.prefault(text).meta({ ...about });

const bank = {
  BANK_BASE_URL: required(kinds.bankAddress, {
    meaning: 'Address of the account service; a path prefix is fine.',
    example: 'https://api.bank.example',
  }),
  BANK_AUTH_URL: optional(kinds.bankAddress, {
    meaning: 'Address of the token service, if it is on another host.',
    example: 'https://auth.bank.example',
    unset: 'the value of `BANK_BASE_URL`',
  }),
  BANK_USERNAME: required(kinds.secret(kinds.userName), {
    meaning: 'User name of the M2M account.',
    example: 'm2m-user',
    secret: true,
  }),
  BANK_PASSWORD: required(kinds.secret(kinds.password), {
    meaning: 'Password of the M2M account.',
    example: "'a password with # in it'",
    secret: true,
  }),
  BANK_PFX_FILE: optional(kinds.path, {
    meaning: 'The client certificate with its key, a PFX (PKCS#12) file.',
    example: '/run/secrets/client.pfx',
    unset: 'required, unless `BANK_PFX_BASE64` or `BANK_CERT_FILE` is set',
  }),
  BANK_PFX_BASE64: optional(kinds.secret(kinds.anyText('base64')), {
    meaning: 'The PFX as base64 text (`base64 -w0 client.pfx`).',
    example: 'MIIKPAIBAzCC...',
    secret: true,
  }),
  BANK_PFX_PASSCODE: withDefault(kinds.secret(kinds.passcode), '', {
    meaning: 'Passcode of the PFX.',
    example: "'a passcode'",
    unset: 'empty',
    secret: true,
  }),
  BANK_CERT_FILE: optional(kinds.pemFile, {
    meaning: 'The client certificate and its intermediates as PEM, instead of a PFX.',
    example: '/run/secrets/client.pem',
  }),
  BANK_KEY_FILE: optional(kinds.pemFile, {
    meaning: 'The private key of `BANK_CERT_FILE`.',
    example: '/run/secrets/client-key.pem',
  }),
  BANK_KEY_PASSPHRASE: withDefault(kinds.secret(kinds.passcode), '', {
    meaning: 'Passphrase of `BANK_KEY_FILE`, if it is encrypted.',
    example: "'a passphrase'",
    unset: 'empty',
    secret: true,
  }),
  BANK_CA_FILE: optional(kinds.certificatesFile, {
    meaning: "The only CA certificates trusted for the bank's servers.",
    example: '/etc/accounts-gateway/bank-ca.pem',
    unset: "Node's CA certificates",
  }),
  BANK_TLS_MAX_VERSION: withDefault(kinds.oneOf(['1.2', '1.3']), '1.3', {
    meaning: 'Highest TLS version: `1.2` if the bank asks for the client certificate after the handshake.',
    example: '1.2',
  }),
  BANK_SUPPORT: optional(kinds.shortText(120), {
    meaning: "How to reach the bank's service desk, for the status page and the pages of errors.",
    example: "'Service desk, +45 70 10 00 00'",
  }),
  BANK_STATUS_PAGE: optional(kinds.httpsPage, {
    meaning: "The bank's public status page. It is shown, never called.",
    example: 'https://status.bank.example',
  }),
};

/** The bank's settings that are for display only: they also apply with `--sandbox`. */
const ONLY_SHOWN: ReadonlySet<string> = new Set(['BANK_SUPPORT', 'BANK_STATUS_PAGE', 'EGRESS_PUBLIC_ADDRESS']);

const calls = {
  BANK_CONNECT_TIMEOUT_MS: withDefault(kinds.wholeNumber(1, 300_000), '3000', {
    meaning: 'Time limit for DNS, TCP, proxy and TLS together.',
  }),
  BANK_REQUEST_TIMEOUT_MS: withDefault(kinds.wholeNumber(1, 600_000), '10000', {
    meaning: 'Time limit for one call to the bank, body included.',
  }),
  BANK_MAX_CONCURRENT_REQUESTS: withDefault(kinds.wholeNumber(1, 100), '6', {
    meaning: 'Calls at the same time. Lower it if the bank limits calls.',
  }),
  BANK_PAGE_SIZE: withDefault(kinds.wholeNumber(1, 5000), '1000', {
    meaning: 'Accounts per call. The gateway asks for fewer when the bank rejects it.',
  }),
  BANK_MAX_RESPONSE_BYTES: withDefault(kinds.wholeNumber(1024, 1_073_741_824), '33554432', {
    meaning: 'Larger responses, after decompression, are rejected.',
  }),
};

const egress = {
  EGRESS_PROXY_URL: withDefault(kinds.proxyAddress, 'direct', {
    meaning: 'CONNECT proxy. `direct` uses none, even if `HTTPS_PROXY` is set.',
    example: 'http://proxy.example:3128',
    unset: 'the value of `HTTPS_PROXY`',
    inherits: ['https_proxy', 'HTTPS_PROXY'],
    secret: true,
  }),
  EGRESS_NO_PROXY: withDefault(kinds.anyText('hosts, separated by commas'), '', {
    meaning: 'Hosts that are called without the proxy.',
    example: '.internal.example',
    unset: 'the value of `NO_PROXY`',
    inherits: ['no_proxy', 'NO_PROXY'],
  }),
  EGRESS_PROXY_CA_FILE: optional(kinds.certificatesFile, {
    meaning: 'The only CA certificates trusted for an https:// proxy.',
    example: '/etc/accounts-gateway/proxy-ca.pem',
    unset: "Node's CA certificates",
  }),
  EGRESS_LOCAL_ADDRESS: optional(kinds.ipAddress, {
    meaning: 'Source address of calls, if the machine has several.',
    example: '192.0.2.10',
    unset: 'chosen by the system',
  }),
  EGRESS_PUBLIC_ADDRESS: optional(kinds.ipAddress, {
    meaning: 'The address that the bank sees, for the status page and its report.',
    example: '203.0.113.7',
    unset: 'not shown',
  }),
};

const freshness = {
  SNAPSHOT_FRESH_MS: withDefault(kinds.wholeNumber(0, 86_400_000), '10000', {
    meaning: 'A snapshot this young is served without a refresh, unless the caller asks for one.',
  }),
  SNAPSHOT_SOFT_TIMEOUT_MS: withDefault(kinds.wholeNumber(0, 600_000), '1000', {
    meaning: 'If a refresh takes longer, callers who accept it get the older snapshot, marked stale.',
  }),
  SNAPSHOT_MAX_AGE_MS: withDefault(kinds.wholeNumber(0, 86_400_000), '300000', {
    meaning: 'Nothing older is served from the cache.',
  }),
  SNAPSHOT_READ_TIMEOUT_MS: withDefault(kinds.wholeNumber(1, 3_600_000), '60000', {
    meaning: 'Time limit for a refresh, with all pages and retries.',
  }),
  REQUEST_DEADLINE_MS: withDefault(kinds.wholeNumber(1, 600_000), '15000', {
    meaning: 'Time limit until a response begins. Lower it if callers or load balancers give up earlier.',
  }),
};

const sharing = {
  REDIS_URL: optional(kinds.secret(kinds.redisAddress), {
    meaning: 'Redis or Valkey, through which instances share the snapshot.',
    example: 'rediss://gateway:password@redis.internal.example:6379',
    unset: 'none: every instance works alone',
    secret: true,
  }),
  REDIS_CA_FILE: optional(kinds.certificatesFile, {
    meaning: 'The only CA certificates trusted for `rediss://`.',
    example: '/etc/accounts-gateway/redis-ca.pem',
    unset: "Node's CA certificates",
  }),
  REDIS_KEY_PREFIX: withDefault(kinds.shortText(100), 'accounts-gateway:', {
    meaning: 'Prefix of all keys in Redis, for several fleets in one Redis.',
  }),
  SNAPSHOT_FILE: optional(kinds.path, {
    meaning: 'File that keeps the snapshot across restarts, encrypted. Not used with `REDIS_URL`.',
    example: '/var/lib/accounts-gateway/snapshot',
    unset: 'none: calls after a restart wait for the bank',
  }),
  SNAPSHOT_KEY_FILE: optional(kinds.usableFile(readSnapshotKey).describe('path'), {
    meaning: 'Key of the stored copies, 32 bytes as base64 or hex, if private keys differ between instances or change.',
    example: '/run/secrets/snapshot-key',
    unset: 'derived from the private key',
  }),
};

const http = {
  HOST: withDefault(kinds.listenHost, '127.0.0.1', {
    meaning: 'Where the internal API listens. Beyond loopback, `ALLOWED_HOSTS` and `ALLOWED_CLIENTS` are required.',
  }),
  PORT: withDefault(kinds.port, '3000', { meaning: 'Port of the internal API; 0 picks a free one.' }),
  ALLOWED_HOSTS: withDefault(kinds.hostNames, 'localhost,127.0.0.1,[::1]', {
    meaning: 'Names, without port, that callers may send in `Host`.',
    example: 'accounts.internal.example,localhost',
  }),
  ALLOWED_CLIENTS: withDefault(kinds.clients, 'loopback', {
    meaning:
      'Clients that may call: addresses, CIDRs, `loopback`, `any`, or `private` (loopback, RFC 1918, link-local, unique local; not 100.64.0.0/10).',
    example: '10.1.0.0/16,loopback',
  }),
  TLS_CERT_FILE: optional(kinds.certificatesFile, {
    meaning: 'PEM certificate of the internal API, which then speaks HTTPS.',
    example: '/etc/accounts-gateway/server.pem',
    unset: 'none: plain HTTP',
  }),
  TLS_KEY_FILE: optional(kinds.pemFile, {
    meaning: 'Private key of `TLS_CERT_FILE`, not encrypted.',
    example: '/etc/accounts-gateway/server-key.pem',
  }),
  CORS_ORIGINS: optional(kinds.origins, {
    meaning: 'Origins of web apps that may call from a browser.',
    example: 'https://treasury.example',
    unset: 'none; with `--sandbox` any port of localhost and 127.0.0.1',
  }),
  MAX_CONNECTIONS: withDefault(kinds.wholeNumber(1, 1_000_000), '5000', {
    meaning: 'Open connections. Further ones are closed at once.',
  }),
  MAX_REQUESTS_WAITING: withDefault(kinds.wholeNumber(1, 1_000_000), '2000', {
    meaning: 'Callers that wait for the bank. Further ones get the older snapshot, or `overloaded`.',
  }),
};

const program = {
  SHUTDOWN_DELAY_MS: withDefault(kinds.wholeNumber(0, 600_000), '0', {
    meaning: 'Time after a stop signal in which the gateway is not ready but still serves.',
    example: '5000',
  }),
  SHUTDOWN_GRACE_MS: withDefault(kinds.wholeNumber(0, 600_000), '10000', {
    meaning: 'Time limit after that for requests in flight.',
  }),
  ENVIRONMENT: optional(kinds.shortText(40), {
    meaning: 'Name of this installation on the pages, in `/health` and in `gateway.started`.',
    example: 'production',
  }),
  LOG_LEVEL: withDefault(kinds.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info', {
    meaning: '`trace`, `debug` (a line for each call to the bank), `info`, `warn`, `error`, `fatal` or `silent`.',
  }),
};

const sandbox = {
  SANDBOX_HOST: withDefault(kinds.listenHost, '127.0.0.1', {
    meaning: 'Address where it listens.',
  }),
  SANDBOX_PORT: withDefault(kinds.port, '8443', {
    meaning: 'Its port; 0 picks a free one. With `serve --sandbox` the default is 0.',
  }),
  SANDBOX_AUTH_PORT: optional(kinds.port, {
    meaning: 'A second port makes the token service a separate host.',
    example: '8445',
    unset: 'the value of `SANDBOX_PORT`',
  }),
  SANDBOX_CONTROL_PORT: withDefault(kinds.port, '8444', {
    meaning: 'Port of its switches, plain HTTP. With `serve --sandbox` the default is 0.',
  }),
  SANDBOX_NAMES: withDefault(kinds.names, 'localhost,127.0.0.1', {
    meaning: 'Names in its server certificate.',
  }),
  SANDBOX_DIRECTORY: withDefault(kinds.path, '.sandbox', {
    meaning: 'Directory for its CA, PFX, passcode, user name and password.',
  }),
  SANDBOX_ACCOUNTS: withDefault(kinds.wholeNumber(0, 200_000), '120', { meaning: 'Number of accounts.' }),
  SANDBOX_SEED: withDefault(kinds.wholeNumber(0, 2_147_483_647), '1', {
    meaning: 'The same seed gives the same accounts.',
  }),
  SANDBOX_TOKEN_LIFETIME_SECONDS: withDefault(kinds.wholeNumber(1, 86_400), '300', {
    meaning: 'Lifetime of its tokens.',
  }),
  SANDBOX_LATENCY_MS: withDefault(kinds.wholeNumber(0, 600_000), '0', {
    meaning: 'Delay that is added to each response.',
    example: '200',
  }),
  SANDBOX_ALLOWED_IPS: withDefault(kinds.cidrs, '127.0.0.1,::1', {
    meaning: 'Addresses and CIDRs that may call the sandbox bank.',
  }),
};

/** The sections of docs/settings.md, in their order. */
export const GROUPS = {
  'The bank': bank,
  'Calls to the bank': calls,
  'The route to the bank': egress,
  Freshness: freshness,
  'More than one instance, and restarts': sharing,
  'The internal API': http,
  'The process': program,
  'The sandbox bank': sandbox,
};

/** Every setting, with its default. Parses the text of environment variables. */
export const settingsSchema = z.object({
  ...bank,
  ...calls,
  ...egress,
  ...freshness,
  ...sharing,
  ...http,
  ...program,
  ...sandbox,
});

export type SettingName = keyof typeof settingsSchema.shape;

export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];

export function describeSetting(name: SettingName) {
  const schema: z.ZodType = settingsSchema.shape[name];
  const about = schema.meta() as unknown as About;
  const text = schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined;
  const kind = schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return {
    ...about,
    required: kind === schema,
    /** The accepted values, in words. */
    allowed: (kind as z.ZodType).description ?? '',
    /** Text as an operator would write it; undefined if `unset` is the better description. */
    default: about.unset === undefined ? text : undefined,
    example: about.example ?? text ?? '',
  };
}

export type Command = 'serve' | 'doctor' | 'sandbox';

const namesOf = (...groups: object[]) => Object.keys(Object.assign({}, ...groups)) as SettingName[];

/** The settings that are ignored with the sandbox. */
export const BANK_NAMES = namesOf(bank, egress).filter((name) => !ONLY_SHOWN.has(name));

const USED: Readonly<Record<Command, readonly SettingName[]>> = {
  serve: namesOf(bank, calls, egress, freshness, sharing, http, program),
  doctor: namesOf(bank, calls, egress, freshness, sharing).filter((name) => !/^SNAPSHOT_(KEY_)?FILE$/.test(name)),
  sandbox: [],
};

/** The settings that a command uses. Other settings cannot prevent its start. */
export function usedNames(command: Command, withSandbox: boolean): ReadonlySet<SettingName> {
  const used = USED[command].filter((name) => !(withSandbox && BANK_NAMES.includes(name)));
  return new Set([...used, ...(withSandbox ? namesOf(sandbox) : [])]);
}

export const SECRET_NAMES = SETTING_NAMES.filter((name) => describeSetting(name).secret);

/** Every valid name in the environment, including the `_FILE` forms of secrets. */
export const KNOWN_NAMES: readonly string[] = [...SETTING_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
