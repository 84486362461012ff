import { z } from 'zod';
import * as kinds from './kinds.js';

interface Variable<S extends z.ZodType> {
  readonly schema: S;
  /** Shown with every fault. */
  readonly example: string;
  /** May also be given as a file, `X_FILE`. */
  readonly secret: boolean;
}

const variable = <S extends z.ZodType>(schema: S, example: string): Variable<S> => ({ schema, example, secret: false });
const secret = <S extends z.ZodType>(schema: S, example: string): Variable<S> => ({ schema, example, secret: true });

const NOT_UTF8 = 'is not UTF-8';

const username = z
  .string()
  .refine((text) => !text.includes(':'), 'must not contain ":" (HTTP Basic can not carry it)')
  .refine((text) => !hasControl(text), 'must not contain control characters or line ends')
  .refine(isUtf8, NOT_UTF8);
const password = z
  .string()
  .refine((text) => !hasControl(text), 'must not contain control characters or line ends')
  .refine(isUtf8, NOT_UTF8);

function hasControl(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f]/.test(text);
}

/** Reading bytes that are no UTF-8 leaves a replacement character; a wrong password may lock the account. */
function isUtf8(text: string): boolean {
  return !text.includes('\ufffd');
}

/** Every setting there is (contract §2): what is allowed, and an example for the message when it is not. */
export const VARIABLES = {
  BANK_BASE_URL: variable(kinds.httpsAddress, 'https://api.bank.example'),
  BANK_AUTH_URL: variable(kinds.httpsAddress, 'https://auth.bank.example'),
  BANK_USERNAME: secret(username, 'm2m-user (or BANK_USERNAME_FILE=/run/secrets/username)'),
  BANK_PASSWORD: secret(password, 'BANK_PASSWORD_FILE=/run/secrets/password'),
  BANK_PFX_FILE: variable(kinds.path, '/run/secrets/client.pfx'),
  BANK_PFX_BASE64: secret(z.string(), 'the output of: base64 -w0 client.pfx'),
  BANK_PFX_PASSCODE: secret(z.string(), 'BANK_PFX_PASSCODE_FILE=/run/secrets/passcode'),
  BANK_CA_FILE: variable(kinds.path, '/etc/accounts-gateway/bank-ca.pem'),
  BANK_CONNECT_TIMEOUT_MS: variable(kinds.milliseconds(1, 300_000), '3000'),
  BANK_REQUEST_TIMEOUT_MS: variable(kinds.milliseconds(1, 600_000), '10000'),
  REQUEST_DEADLINE_MS: variable(kinds.milliseconds(1, 600_000), '15000'),
  BANK_MAX_CONCURRENT_REQUESTS: variable(kinds.wholeNumber(1, 100), '6'),
  BANK_PAGE_SIZE: variable(kinds.wholeNumber(1, 5000), '1000'),
  BANK_MAX_RESPONSE_BYTES: variable(kinds.wholeNumber(1024, 1_073_741_824), '33554432'),
  EGRESS_PROXY_URL: secret(kinds.proxyAddress, 'http://proxy.example:3128 (or direct)'),
  EGRESS_NO_PROXY: variable(z.string(), 'bank.example,.internal'),
  EGRESS_PROXY_CA_FILE: variable(kinds.path, '/etc/accounts-gateway/proxy-ca.pem'),
  EGRESS_LOCAL_ADDRESS: variable(kinds.ipAddress, '192.0.2.10'),
  SNAPSHOT_FRESH_MS: variable(kinds.milliseconds(0, 86_400_000), '10000'),
  SNAPSHOT_SOFT_TIMEOUT_MS: variable(kinds.milliseconds(0, 600_000), '1000'),
  SNAPSHOT_STALE_MS: variable(kinds.milliseconds(0, 86_400_000), '300000'),
  SNAPSHOT_READ_TIMEOUT_MS: variable(kinds.milliseconds(1, 3_600_000), '60000'),
  HOST: variable(kinds.listenHost, '127.0.0.1'),
  PORT: variable(kinds.port, '3000'),
  ALLOWED_HOSTS: variable(kinds.hostNames, 'accounts.internal.example,localhost'),
  ALLOWED_CLIENTS: variable(kinds.clients, '10.1.0.0/16,loopback'),
  TLS_CERT_FILE: variable(kinds.path, '/etc/accounts-gateway/server.pem'),
  TLS_KEY_FILE: variable(kinds.path, '/etc/accounts-gateway/server.key'),
  MAX_CONNECTIONS: variable(kinds.wholeNumber(1, 1_000_000), '5000'),
  MAX_REQUESTS_WAITING: variable(kinds.wholeNumber(1, 1_000_000), '2000'),
  CORS_ORIGINS: variable(kinds.origins, 'https://treasury.example'),
  SHUTDOWN_DELAY_MS: variable(kinds.milliseconds(0, 600_000), '0'),
  SHUTDOWN_GRACE_MS: variable(kinds.milliseconds(0, 600_000), '10000'),
  LOG_LEVEL: variable(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, fatal, silent',
    }),
    'info',
  ),
  SANDBOX_PORT: variable(kinds.port, '8443'),
  SANDBOX_AUTH_PORT: variable(kinds.port, '8445'),
  SANDBOX_HOST: variable(kinds.listenHost, '127.0.0.1'),
  SANDBOX_NAMES: variable(kinds.names, 'localhost,127.0.0.1'),
  SANDBOX_CONTROL_PORT: variable(kinds.port, '8444'),
  SANDBOX_DIRECTORY: variable(kinds.path, '.sandbox'),
  SANDBOX_ACCOUNTS: variable(kinds.wholeNumber(0, 1_000_000), '120'),
  SANDBOX_SEED: variable(kinds.wholeNumber(0, 2_147_483_647), '1'),
  SANDBOX_TOKEN_LIFETIME_SECONDS: variable(kinds.wholeNumber(1, 86_400), '300'),
  SANDBOX_LATENCY_MS: variable(kinds.milliseconds(0, 600_000), '0'),
  SANDBOX_ALLOWED_IPS: variable(kinds.cidrs, '127.0.0.1,::1'),
} as const;

export type VariableName = keyof typeof VARIABLES;

export type Values = { readonly [K in VariableName]?: z.output<(typeof VARIABLES)[K]['schema']> };

export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

/** With `--sandbox` these come from the sandbox, and are ignored with a warning when set. */
export const BANK_IDENTITY_VARIABLES = [
  'BANK_BASE_URL',
  'BANK_AUTH_URL',
  'BANK_USERNAME',
  'BANK_PASSWORD',
  'BANK_PFX_FILE',
  'BANK_PFX_BASE64',
  'BANK_PFX_PASSCODE',
  'BANK_CA_FILE',
] as const satisfies readonly VariableName[];

/** Every name that may stand in the environment, the `_FILE` forms of secrets included. */
export const KNOWN_NAMES: readonly string[] = VARIABLE_NAMES.flatMap((name) =>
  VARIABLES[name].secret ? [name, `${name}_FILE`] : [name],
);
