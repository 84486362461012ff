import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isIP } from 'node:net';
import { FileUnusable, readSecretFile, readSmallFile } from './small-file.js';
import type { BankSettings, CommonSettings, SecretSource } from './settings.js';
import { openFiles } from './open-files.js';
import { unknownNames } from './unknown-names.js';
import { BANK_IDENTITY_VARIABLES, VARIABLE_NAMES, VARIABLES, type Values, type VariableName } from './variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Fault {
  readonly variable: string;
  /** What is wrong; reads on after the variable's name. */
  readonly problem: string;
  readonly example?: string;
}

/** All that is wrong with the settings, together. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  constructor(
    readonly faults: readonly Fault[],
    /** What may explain a fault, such as a name with a slip in it. */
    readonly warnings: readonly string[] = [],
  ) {
    super(faults.map((fault) => `${fault.variable} ${fault.problem}`).join('; '));
  }
}

export interface ReadOptions {
  /** The embedded sandbox is to be the bank. */
  readonly sandbox: boolean;
  /** The sandbox bank runs alone, as it may in production. */
  readonly sandboxAlone?: boolean;
  /** Flags the runtime was started with; `--inspect` opens the heap, and with it every secret, to the machine. */
  readonly runtimeFlags?: readonly string[];
}

export interface SettingsRead {
  readonly common: CommonSettings;
  /** null when the embedded sandbox is to be the bank. */
  readonly bank: BankSettings | null;
  readonly warnings: readonly string[];
}

/**
 * Reads all settings (contract §2). An empty variable counts as not set. With `sandbox`, the settings that say which
 * bank to talk to and by which route are left out with a warning.
 * @throws SettingsInvalid with every fault there is
 */
export function readSettings(env: Environment, options: ReadOptions): SettingsRead {
  const faults: Fault[] = [];
  const warnings = unknownNames(env);
  const ignored = options.sandbox ? ignoredWithSandbox(env) : [];
  if (ignored.length > 0 && !options.sandboxAlone) {
    warnings.push(`with --sandbox these settings are ignored: ${ignored.join(', ')}`);
  }
  const present = { ...env };
  for (const name of ignored) delete present[name];
  warnings.push(...openFiles(present));

  const values: Record<string, unknown> = {};
  for (const name of VARIABLE_NAMES) {
    const text = textOf(name, present, faults);
    if (text === undefined) continue;
    const result = VARIABLES[name].schema.safeParse(text);
    if (result.success) values[name] = result.data;
    else
      faults.push({
        variable: name,
        problem: result.error.issues[0]?.message ?? 'is wrong',
        example: VARIABLES[name].example,
      });
  }
  const wrong = new Set(faults.map((fault) => fault.variable.replace(/_FILE$/, '')));

  const read = values as Values;
  if (!options.sandbox) faults.push(...missingBankSettings(present).filter((fault) => !wrong.has(fault.variable)));
  faults.push(...crossChecks(env, read, options));
  if (faults.length > 0) throw new SettingsInvalid(faults, warnings);
  return deepFreeze({
    common: toCommonSettings(env, read, options),
    bank: options.sandbox ? null : toBankSettings(present, read),
    warnings,
  });
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}

function ignoredWithSandbox(env: Environment): string[] {
  return BANK_IDENTITY_VARIABLES.flatMap((name) => (VARIABLES[name].secret ? [name, `${name}_FILE`] : [name])).filter(
    (name) => isSet(env[name]),
  );
}

const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

function textOf(name: VariableName, env: Environment, faults: Fault[]): string | undefined {
  const direct = env[name];
  const { secret, example } = VARIABLES[name];
  const file = secret ? env[`${name}_FILE`] : undefined;
  // BANK_PFX_PASSCODE_FILE set and BANK_PFX_PASSCODE empty is what compose files tend to give: not a conflict
  if (isSet(direct) && isSet(file)) {
    faults.push({ variable: name, problem: `is given twice, as ${name} and as ${name}_FILE; keep one`, example });
    return undefined;
  }
  if (isSet(direct)) return direct;
  if (!isSet(file)) return undefined;
  try {
    return readSecretFile(file);
  } catch (error) {
    // an empty passcode is a passcode
    if (error instanceof FileUnusable && error.reason === 'is empty' && name === 'BANK_PFX_PASSCODE') return undefined;
    if (!(error instanceof FileUnusable)) throw error;
    faults.push({
      variable: `${name}_FILE`,
      problem: `names ${file}, which ${error.reason}`,
      example: '/run/secrets/…',
    });
    return undefined;
  }
}

function missingBankSettings(env: Environment): Fault[] {
  const given = (name: string) => isSet(env[name]) || isSet(env[`${name}_FILE`]);
  const faults: Fault[] = [];
  for (const name of ['BANK_BASE_URL', 'BANK_USERNAME', 'BANK_PASSWORD'] as const) {
    if (!given(name)) faults.push({ variable: name, problem: 'is missing', example: VARIABLES[name].example });
  }
  const pfx = [given('BANK_PFX_FILE'), given('BANK_PFX_BASE64')].filter(Boolean).length;
  if (pfx === 0) {
    faults.push({
      variable: 'BANK_PFX_FILE',
      problem: 'or BANK_PFX_BASE64 is missing',
      example: VARIABLES.BANK_PFX_FILE.example,
    });
  }
  if (pfx === 2) {
    faults.push({
      variable: 'BANK_PFX_FILE',
      problem: 'and BANK_PFX_BASE64 are both set; keep one',
      example: VARIABLES.BANK_PFX_FILE.example,
    });
  }
  return faults;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function crossChecks(env: Environment, values: Values, options: ReadOptions): Fault[] {
  const faults: Fault[] = [];
  const add = (variable: string, problem: string, example?: string) =>
    faults.push({ variable, problem, ...(example !== undefined && { example }) });

  const host = values.HOST ?? '127.0.0.1';
  if (!isLoopback(host)) {
    for (const name of ['ALLOWED_HOSTS', 'ALLOWED_CLIENTS'] as const) {
      if (!isSet(env[name])) {
        add(
          name,
          `must be set, because HOST (${host}) is not loopback: say who may call, and by which name`,
          VARIABLES[name].example,
        );
      }
    }
  }
  if (isSet(env['TLS_CERT_FILE']) !== isSet(env['TLS_KEY_FILE'])) {
    const missing = isSet(env['TLS_CERT_FILE']) ? 'TLS_KEY_FILE' : 'TLS_CERT_FILE';
    add(missing, 'is missing; TLS_CERT_FILE and TLS_KEY_FILE go together', VARIABLES[missing].example);
  }
  for (const name of ['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'] as const) {
    const file = values[name];
    const problem = file === undefined ? null : pemProblem(file, name === 'TLS_KEY_FILE' ? 'key' : 'certificate');
    if (problem) add(name, `names ${file}, which ${problem}`, VARIABLES[name].example);
  }
  if (values.TLS_CERT_FILE && values.TLS_KEY_FILE && !faults.some((fault) => fault.variable.startsWith('TLS_'))) {
    const problem = pairProblem(values.TLS_CERT_FILE, values.TLS_KEY_FILE);
    if (problem) add('TLS_KEY_FILE', problem);
  }
  if (!options.sandbox && !isSet(env['EGRESS_PROXY_URL']) && !isSet(env['EGRESS_PROXY_URL_FILE'])) {
    const { variable, result } = inheritedProxy(env);
    if (result && !result.success) {
      const problem = result.error.issues[0]?.message ?? 'is wrong';
      add(variable, `${problem}; EGRESS_PROXY_URL overrides it`, VARIABLES.EGRESS_PROXY_URL.example);
    }
  }
  if (env['NODE_ENV'] === 'production') {
    if (options.sandbox && !options.sandboxAlone) {
      add(
        'NODE_ENV',
        'is production, where --sandbox is forbidden: set the bank settings and start without it, or unset NODE_ENV',
      );
    }
    const inspect = [...(options.runtimeFlags ?? []), ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)].find((flag) =>
      flag.startsWith('--inspect'),
    );
    if (inspect !== undefined) {
      add('NODE_ENV', `is production, where ${inspect} is refused (it opens every secret in memory); start without it`);
    }
    if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
      add(
        'NODE_TLS_REJECT_UNAUTHORIZED',
        'is 0, which trusts any server; unset it, and give the roots of the bank as BANK_CA_FILE',
      );
    }
  }
  return faults;
}

function pemProblem(file: string, what: 'certificate' | 'key'): string | null {
  try {
    const text = readSmallFile(file, 1_048_576).toString('utf8');
    const label = what === 'key' ? /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/g : /-----BEGIN CERTIFICATE-----/g;
    const blocks = [...text.matchAll(label)].map(({ index }) => text.slice(index));
    if (blocks.length === 0) return `holds no PEM ${what}`;
    // a secure context would leave out those that it can't parse
    if (what === 'certificate') for (const block of blocks) void new X509Certificate(block);
    return null;
  } catch (error) {
    if (error instanceof FileUnusable) return error.reason;
    return `holds a PEM ${what} that can not be parsed`;
  }
}

function pairProblem(certFile: string, keyFile: string): string | null {
  try {
    createSecureContext({ cert: readSmallFile(certFile, 1_048_576), key: readSmallFile(keyFile, 1_048_576) });
    return null;
  } catch {
    return `(${keyFile}) does not go with TLS_CERT_FILE (${certFile}), or is encrypted; give the unencrypted key of that certificate`;
  }
}

function toCommonSettings(env: Environment, values: Values, options: ReadOptions): CommonSettings {
  const sandboxPort = values.SANDBOX_PORT ?? 8443;
  return {
    production: env['NODE_ENV'] === 'production',
    logLevel: values.LOG_LEVEL ?? 'info',
    egress: {
      connectTimeoutMs: values.BANK_CONNECT_TIMEOUT_MS ?? 3000,
      requestTimeoutMs: values.BANK_REQUEST_TIMEOUT_MS ?? 10_000,
      maxConcurrentRequests: values.BANK_MAX_CONCURRENT_REQUESTS ?? 6,
      maxResponseBytes: values.BANK_MAX_RESPONSE_BYTES ?? 33_554_432,
      proxy: options.sandbox ? null : proxyOf(env, values),
      noProxy: values.EGRESS_NO_PROXY ?? (env['no_proxy'] || env['NO_PROXY'] || ''),
      proxyCaFile: values.EGRESS_PROXY_CA_FILE ?? null,
      localAddress: options.sandbox ? null : (values.EGRESS_LOCAL_ADDRESS ?? null),
    },
    snapshot: {
      freshMs: values.SNAPSHOT_FRESH_MS ?? 10_000,
      softTimeoutMs: values.SNAPSHOT_SOFT_TIMEOUT_MS ?? 1000,
      staleMs: values.SNAPSHOT_STALE_MS ?? 300_000,
      readTimeoutMs: values.SNAPSHOT_READ_TIMEOUT_MS ?? 60_000,
      pageSize: values.BANK_PAGE_SIZE ?? 1000,
      requestDeadlineMs: values.REQUEST_DEADLINE_MS ?? 15_000,
      maxRequestsWaiting: values.MAX_REQUESTS_WAITING ?? 2000,
    },
    http: {
      host: values.HOST ?? '127.0.0.1',
      port: values.PORT ?? 3000,
      allowedHosts: values.ALLOWED_HOSTS ?? ['localhost', '127.0.0.1', '[::1]'],
      allowedClients: values.ALLOWED_CLIENTS ?? ['loopback'],
      tls:
        values.TLS_CERT_FILE && values.TLS_KEY_FILE
          ? { certFile: values.TLS_CERT_FILE, keyFile: values.TLS_KEY_FILE }
          : null,
      maxConnections: values.MAX_CONNECTIONS ?? 5000,
      corsOrigins: values.CORS_ORIGINS ?? [],
      shutdownDelayMs: values.SHUTDOWN_DELAY_MS ?? 0,
      shutdownGraceMs: values.SHUTDOWN_GRACE_MS ?? 10_000,
    },
    sandbox: {
      host: values.SANDBOX_HOST ?? '127.0.0.1',
      port: sandboxPort,
      authPort:
        values.SANDBOX_AUTH_PORT === undefined || values.SANDBOX_AUTH_PORT === sandboxPort
          ? null
          : values.SANDBOX_AUTH_PORT,
      controlPort: values.SANDBOX_CONTROL_PORT ?? 8444,
      names: values.SANDBOX_NAMES ?? ['localhost', '127.0.0.1'],
      directory: values.SANDBOX_DIRECTORY ?? '.sandbox',
      accounts: values.SANDBOX_ACCOUNTS ?? 120,
      seed: values.SANDBOX_SEED ?? 1,
      tokenLifetimeSeconds: values.SANDBOX_TOKEN_LIFETIME_SECONDS ?? 300,
      latencyMs: values.SANDBOX_LATENCY_MS ?? 0,
      allowedIps: values.SANDBOX_ALLOWED_IPS ?? ['127.0.0.1', '::1'],
    },
  };
}

function proxyOf(env: Environment, values: Values): URL | null {
  if (values.EGRESS_PROXY_URL !== undefined) return values.EGRESS_PROXY_URL;
  return inheritedProxy(env).result?.data ?? null;
}

/** The proxy that the environment names for everybody; the lower-case name comes first, as elsewhere. */
function inheritedProxy(env: Environment) {
  const variable = isSet(env['https_proxy']) ? 'https_proxy' : 'HTTPS_PROXY';
  const text = env[variable];
  return { variable, result: isSet(text) ? VARIABLES.EGRESS_PROXY_URL.schema.safeParse(text) : null };
}

function toBankSettings(env: Environment, values: Values): BankSettings {
  const baseUrl = values.BANK_BASE_URL ?? '';
  return {
    mode: 'live',
    baseUrl,
    authUrl: values.BANK_AUTH_URL ?? baseUrl,
    identity: {
      username: secretSource('BANK_USERNAME', env),
      password: secretSource('BANK_PASSWORD', env),
      pfx:
        values.BANK_PFX_FILE === undefined
          ? { base64: secretSource('BANK_PFX_BASE64', env) }
          : { file: values.BANK_PFX_FILE },
      passcode: secretSource('BANK_PFX_PASSCODE', env),
      caFile: values.BANK_CA_FILE ?? null,
    },
  };
}

function secretSource(name: VariableName, env: Environment): SecretSource {
  const file = env[`${name}_FILE`];
  if (!isSet(file)) {
    const text = env[name] ?? '';
    return { variable: name, file: null, read: () => text };
  }
  return fileSecret(name, file);
}

/** A secret in a file, checked by the rule of its variable each time it is read. */
export function fileSecret(name: VariableName, file: string): SecretSource {
  return {
    variable: `${name}_FILE`,
    file,
    read: () => {
      const text = readTextAllowingEmpty(name, file);
      const result = VARIABLES[name].schema.safeParse(text);
      if (!result.success) throw new FileUnusable(file, result.error.issues[0]?.message ?? 'is wrong');
      return text;
    },
  };
}

function readTextAllowingEmpty(name: VariableName, file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    if (name === 'BANK_PFX_PASSCODE' && error instanceof FileUnusable && error.reason === 'is empty') return '';
    throw error;
  }
}
