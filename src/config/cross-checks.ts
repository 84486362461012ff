import { isIP } from 'node:net';
import { readListenerPair } from './pem-file.js';
import { toError, withOtherExample, type SettingsError } from './settings-error.js';
import { OLD_NAME, type SettingName } from './settings-schema.js';
import type { Values } from './settings.js';
import type { FileUnusable } from './small-file.js';

/** How Node was started. */
export interface Runtime {
  /** The command line flags. */
  readonly nodeFlags?: readonly string[];
  /** The address of the open inspector, if any. */
  readonly inspectorUrl?: string | undefined;
}

/** Errors between settings. A value that is wrong by itself is undefined here. */
export function crossCheck(env: NodeJS.ProcessEnv, values: Partial<Values>, sandbox: boolean): SettingsError[] {
  return [
    ...(sandbox ? [] : checkClientCertificate(env)),
    ...checkListener(env, values),
    ...checkPair(env, 'TLS_CERT_FILE', 'TLS_KEY_FILE'),
    ...checkListenerKey(values),
    ...checkRenamed(env),
  ];
}

/** One PFX, or one pair of PEM files. */
function checkClientCertificate(env: NodeJS.ProcessEnv): SettingsError[] {
  const names = ['BANK_PFX_FILE', 'BANK_PFX_BASE64', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const;
  const isSet = (name: SettingName) => env[name] || (name === 'BANK_PFX_BASE64' && env['BANK_PFX_BASE64_FILE']);
  const [first, ...others] = names.filter(isSet);
  if (first === undefined) {
    return [toError('BANK_PFX_FILE', '(or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing')];
  }
  if (first.startsWith('BANK_PFX')) {
    return others.length === 0 ? [] : [toError(first, `conflicts with ${others.join(' and ')}; keep one`)];
  }
  return checkPair(env, 'BANK_CERT_FILE', 'BANK_KEY_FILE');
}

function checkPair(env: NodeJS.ProcessEnv, cert: SettingName, key: SettingName): SettingsError[] {
  if (Boolean(env[cert]) === Boolean(env[key])) return [];
  return [toError(env[cert] ? key : cert, `is missing; set ${cert} and ${key} together`)];
}

/** Requires explicit access settings when HOST is not loopback: by default only this machine may call. */
function checkListener(env: NodeJS.ProcessEnv, { HOST: host }: Partial<Values>): SettingsError[] {
  if (host === undefined || isLoopback(host)) return [];
  return (['ALLOWED_HOSTS', 'ALLOWED_CLIENTS'] as const)
    .filter((name) => !env[name])
    .map((name) => toError(name, `must be set, because HOST (${host}) is not loopback`));
}

/** True for an address of HOST that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function checkListenerKey({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Partial<Values>): SettingsError[] {
  if (!cert || !key) return [];
  try {
    readListenerPair(cert, key);
    return [];
  } catch (error) {
    return [withOtherExample(toError('TLS_KEY_FILE', (error as FileUnusable).problem), key)];
  }
}

/** Rejects the old name of a setting: ignoring it would silently apply a default. */
function checkRenamed(env: NodeJS.ProcessEnv): SettingsError[] {
  const given = env[OLD_NAME];
  if (!given) return [];
  const name = 'SNAPSHOT_MAX_AGE_MS';
  return [{ variable: OLD_NAME, problem: `no longer exists: use ${name}`, example: `${name}=${given}` }];
}

/** Checks what NODE_ENV=production forbids: options that open or print secrets, or pretend to be a bank. */
export function checkProduction(
  env: NodeJS.ProcessEnv,
  { nodeFlags = [], inspectorUrl }: Runtime,
  embeddedSandbox: boolean,
): SettingsError[] {
  if (env['NODE_ENV'] !== 'production') return [];
  const errors: SettingsError[] = [];
  const forbid = (variable: string, problem: string, value = '') =>
    errors.push({ variable, problem, example: `${variable}=${value}` });
  const forbidFlag = (flag: string, why: string) =>
    errors.push({
      variable: 'NODE_ENV',
      problem: `is production, which forbids ${flag}: ${why}`,
      example: 'NODE_ENV=production node --disable-sigusr1 dist/main.js',
    });

  if (embeddedSandbox) forbidFlag('--sandbox', 'set the bank settings and start without it');
  if (inspectorUrl) forbidFlag('an open inspector (--inspect)', 'it exposes every secret in memory');
  if (/--tls[-_]keylog\b/.test([...nodeFlags, env['NODE_OPTIONS']].join(' '))) {
    forbidFlag('--tls-keylog', 'it makes recorded connections readable');
  }
  if (env['NODE_DEBUG']) forbid('NODE_DEBUG', 'prints secrets, so production forbids it');
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const problem = "is 0, which production forbids: any server would be trusted; set BANK_CA_FILE to the bank's roots";
    forbid('NODE_TLS_REJECT_UNAUTHORIZED', problem);
  }
  return errors;
}
