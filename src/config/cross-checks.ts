import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { isGiven, isSet, type Environment } from './environment.js';
import { toError, type SettingsError } from './settings-error.js';
import type { SettingName } from './settings-schema.js';
import type { Values } from './settings.js';
import { readSmallFile } from './small-file.js';

/** Errors between settings. A value that is wrong by itself is undefined here. */
export function crossCheck(env: Environment, values: Partial<Values>, sandbox: boolean): SettingsError[] {
  return [
    ...(sandbox ? [] : checkClientCertificate(env)),
    ...checkListener(env, values),
    ...checkPair(env, 'TLS_CERT_FILE', 'TLS_KEY_FILE'),
    ...checkListenerKey(values),
  ];
}

/** One PFX, or one pair of PEM files. */
function checkClientCertificate(env: Environment): SettingsError[] {
  const names = ['BANK_PFX_FILE', 'BANK_PFX_BASE64', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const;
  const [first, ...others] = names.filter((name) => isGiven(env, name));
  if (first === undefined) {
    return [toError('BANK_PFX_FILE', '(or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing')];
  }
  if (first.startsWith('BANK_PFX')) {
    return others.length === 0 ? [] : [toError(first, `conflicts with ${others.join(' and ')}; keep one`)];
  }
  return checkPair(env, 'BANK_CERT_FILE', 'BANK_KEY_FILE');
}

function checkPair(env: Environment, cert: SettingName, key: SettingName): SettingsError[] {
  if (isSet(env[cert]) === isSet(env[key])) return [];
  return [toError(isSet(env[cert]) ? key : cert, `is missing; set ${cert} and ${key} together`)];
}

/** Requires explicit access settings when HOST is not loopback: by default only this machine may call. */
function checkListener(env: Environment, { HOST: host }: Partial<Values>): SettingsError[] {
  if (host === undefined || isLoopback(host)) return [];
  return (['ALLOWED_HOSTS', 'ALLOWED_CLIENTS'] as const)
    .filter((name) => !isSet(env[name]))
    .map((name) => toError(name, `must be set, because HOST (${host}) is not loopback`));
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function checkListenerKey({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Partial<Values>): SettingsError[] {
  if (!cert || !key) return [];
  try {
    createSecureContext({ cert: readSmallFile(cert), key: readSmallFile(key) });
    return [];
  } catch {
    return [toError('TLS_KEY_FILE', 'does not match TLS_CERT_FILE, is not a PEM key, or is encrypted')];
  }
}
