import { isSet, secretSource, type Environment } from './environment.js';
import type { BankSettings, CommonSettings } from './settings.js';
import { VARIABLES, type Values } from './variables.js';

/** Every port of this machine, where dev servers run; `*` is for this default alone, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

/** The values as each room wants them. With `sandbox`, calls go direct whatever proxy or address is set. */
export function toCommonSettings(env: Environment, values: Values, sandbox: boolean): CommonSettings {
  return {
    production: env['NODE_ENV'] === 'production',
    logLevel: values.LOG_LEVEL,
    egress: {
      tlsMaxVersion: values.BANK_TLS_MAX_VERSION,
      connectTimeoutMs: values.BANK_CONNECT_TIMEOUT_MS,
      requestTimeoutMs: values.BANK_REQUEST_TIMEOUT_MS,
      maxConcurrentRequests: values.BANK_MAX_CONCURRENT_REQUESTS,
      maxResponseBytes: values.BANK_MAX_RESPONSE_BYTES,
      proxy: sandbox ? null : toProxy(env, values),
      noProxy: values.EGRESS_NO_PROXY ?? (env['no_proxy'] || env['NO_PROXY'] || ''),
      proxyCaFile: values.EGRESS_PROXY_CA_FILE ?? null,
      localAddress: sandbox ? null : (values.EGRESS_LOCAL_ADDRESS ?? null),
    },
    snapshot: {
      freshMs: values.SNAPSHOT_FRESH_MS,
      softTimeoutMs: values.SNAPSHOT_SOFT_TIMEOUT_MS,
      maxAgeMs: values.SNAPSHOT_MAX_AGE_MS,
      readTimeoutMs: values.SNAPSHOT_READ_TIMEOUT_MS,
      pageSize: values.BANK_PAGE_SIZE,
      requestDeadlineMs: values.REQUEST_DEADLINE_MS,
      maxRequestsWaiting: values.MAX_REQUESTS_WAITING,
    },
    sharing: {
      redis:
        values.REDIS_URL === undefined
          ? null
          : {
              url: secretSource('REDIS_URL', env),
              caFile: values.REDIS_CA_FILE ?? null,
              keyPrefix: values.REDIS_KEY_PREFIX,
            },
      file: values.SNAPSHOT_FILE ?? null,
      keyFile: values.SNAPSHOT_KEY_FILE ?? null,
    },
    http: {
      host: values.HOST,
      port: values.PORT,
      allowedHosts: values.ALLOWED_HOSTS,
      allowedClients: values.ALLOWED_CLIENTS,
      tls:
        values.TLS_CERT_FILE && values.TLS_KEY_FILE
          ? { certFile: values.TLS_CERT_FILE, keyFile: values.TLS_KEY_FILE }
          : null,
      maxConnections: values.MAX_CONNECTIONS,
      corsOrigins: values.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
      shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
      shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
    },
    sandbox: {
      host: values.SANDBOX_HOST,
      port: values.SANDBOX_PORT,
      authPort: values.SANDBOX_AUTH_PORT === values.SANDBOX_PORT ? null : (values.SANDBOX_AUTH_PORT ?? null),
      controlPort: values.SANDBOX_CONTROL_PORT,
      names: values.SANDBOX_NAMES,
      directory: values.SANDBOX_DIRECTORY,
      accounts: values.SANDBOX_ACCOUNTS,
      seed: values.SANDBOX_SEED,
      tokenLifetimeSeconds: values.SANDBOX_TOKEN_LIFETIME_SECONDS,
      latencyMs: values.SANDBOX_LATENCY_MS,
      allowedIps: values.SANDBOX_ALLOWED_IPS,
    },
  };
}

/** The bank of the settings, which are complete; a secret in a file is read when it is needed. */
export function toBankSettings(env: Environment, values: Values): BankSettings {
  const baseUrl = values.BANK_BASE_URL as string;
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

function toProxy(env: Environment, values: Values): URL | null {
  return values.EGRESS_PROXY_URL === undefined ? (inheritedProxy(env).result?.data ?? null) : values.EGRESS_PROXY_URL;
}

/** The proxy that the environment names for every program; the lower-case name comes first, as elsewhere. */
export function inheritedProxy(env: Environment) {
  const variable = isSet(env['https_proxy']) ? 'https_proxy' : 'HTTPS_PROXY';
  const text = env[variable];
  return { variable, result: isSet(text) ? VARIABLES.EGRESS_PROXY_URL.schema.safeParse(text) : null };
}
