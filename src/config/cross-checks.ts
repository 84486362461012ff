import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isGiven, isSet, type Environment } from './environment.js';
import { parseCertificates } from './pem-file.js';
import type { Values } from './settings.js';
import { toError, type SettingsError } from './settings-error.js';
import type { SettingName } from './settings-schema.js';
import { FileUnusable, readSmallFile } from './small-file.js';
import { readSnapshotKey } from './snapshot-key.js';

/** Errors between settings, and of the files that they name. A value that is wrong by itself is undefined here. */
export function crossCheck(env: Environment, values: Partial<Values>, sandbox: boolean): SettingsError[] {
  return [
    ...(sandbox ? [] : checkClientCertificate(env)),
    ...checkListener(env, values),
    ...checkFile('BANK_CA_FILE', values.BANK_CA_FILE, readCertificates),
    ...checkFile('EGRESS_PROXY_CA_FILE', values.EGRESS_PROXY_CA_FILE, readCertificates),
    ...checkFile('REDIS_CA_FILE', values.REDIS_CA_FILE, readCertificates),
    ...checkListenerCertificate(env, values),
    ...checkPlace(values.SNAPSHOT_FILE),
    ...checkFile('SNAPSHOT_KEY_FILE', values.SNAPSHOT_KEY_FILE, readSnapshotKey),
  ];
}

/**
 * Client certificates that cannot be read, to be reported with other errors. Alone they are no error of the settings:
 * opening the certificate reports them, with its own exit code.
 */
export const checkCertificateFiles = (values: Partial<Values>): SettingsError[] =>
  (['BANK_PFX_FILE', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const).flatMap((name) =>
    checkFile(name, values[name], readSmallFile),
  );

/** One PFX, or one pair of PEM files. */
function checkClientCertificate(env: Environment): SettingsError[] {
  const names = ['BANK_PFX_FILE', 'BANK_PFX_BASE64', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const;
  const [first, ...others] = names.filter((name) => isGiven(env, name));
  if (first === undefined) {
    return [toError('BANK_PFX_FILE', '(or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing')];
  }
  if (first.startsWith('BANK_PFX')) {
    return others.length === 0 ? [] : [toError(first, `and ${others.join(' and ')} are both set; keep one`)];
  }
  return checkPair(env, 'BANK_CERT_FILE', 'BANK_KEY_FILE');
}

function checkPair(env: Environment, cert: SettingName, key: SettingName): SettingsError[] {
  if (isSet(env[cert]) === isSet(env[key])) return [];
  return [toError(isSet(env[cert]) ? key : cert, `is missing; ${cert} and ${key} go together`)];
}

/** By default only this machine may call. */
function checkListener(env: Environment, { HOST: host }: Partial<Values>): SettingsError[] {
  if (host === undefined || isLoopback(host)) return [];
  return (['ALLOWED_HOSTS', 'ALLOWED_CLIENTS'] as const)
    .filter((name) => !isSet(env[name]))
    .map((name) => toError(name, `must be set, because HOST (${host}) is not loopback`));
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function checkListenerCertificate(env: Environment, values: Partial<Values>): SettingsError[] {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = values;
  const errors = [
    ...checkFile('TLS_CERT_FILE', cert, readCertificates),
    ...checkFile('TLS_KEY_FILE', key, readKey),
    ...checkPair(env, 'TLS_CERT_FILE', 'TLS_KEY_FILE'),
  ];
  if (!cert || !key || errors.length > 0) return errors;
  try {
    createSecureContext({ cert: readSmallFile(cert), key: readSmallFile(key) });
    return [];
  } catch {
    return [toError('TLS_KEY_FILE', 'does not belong to TLS_CERT_FILE, or is encrypted')];
  }
}

/** Whether SNAPSHOT_FILE can be written, as far as that can be seen before. */
function checkPlace(file: string | undefined): SettingsError[] {
  if (file === undefined) return [];
  const refuse = (why: string) => [toError('SNAPSHOT_FILE', `names ${file}, ${why}`)];
  const kind = (path: string) => statSync(path, { throwIfNoEntry: false });
  try {
    // a rename would replace a device or a pipe that others use
    if (kind(file)?.isFile() === false) return refuse('which is not a regular file');
    if (!kind(dirname(file))?.isDirectory()) return refuse('whose directory does not exist');
    accessSync(dirname(file), constants.W_OK);
    return [];
  } catch {
    return refuse('whose directory this process may not write to');
  }
}

function checkFile(name: SettingName, file: string | undefined, use: (file: string) => unknown): SettingsError[] {
  if (file === undefined) return [];
  try {
    use(file);
    return [];
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    return [toError(name, `names ${file}, which ${error.reason}`)];
  }
}

const readCertificates = (file: string) => parseCertificates(readSmallFile(file).toString('latin1'), file);

function readKey(file: string): void {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(readSmallFile(file).toString('latin1'))) {
    throw new FileUnusable(file, 'has no PEM key');
  }
}
