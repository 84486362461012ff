import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isGiven, isSet, type Environment } from './environment.js';
import { toFault, type Fault } from './fault.js';
import { FileUnusable, parseCertificates, readSealingKey, readSmallFile } from './small-file.js';
import { inheritedProxy } from './derive-settings.js';
import type { SettingName } from './settings-schema.js';
import type { Values } from './settings.js';

/** What is wrong with the settings taken together, and with the files that they name. */
export function checkTogether(env: Environment, values: Partial<Values>, sandbox: boolean): Fault[] {
  return [
    ...(sandbox ? [] : [...checkCertificate(env), ...checkInheritedProxy(env)]),
    ...checkListener(env, values),
    ...checkRoots(values),
    ...checkTlsPair(env, values),
    ...checkSharing(values),
  ];
}

/**
 * A PFX file that cannot be read, to be told with the other faults. Alone it is no fault of the settings: reading the
 * certificate tells it, with an exit code of its own.
 */
export function checkPfxFile({ BANK_PFX_FILE: file }: Partial<Values>, others: readonly Fault[]): Fault[] {
  if (others.some(({ variable }) => variable === 'BANK_PFX_FILE')) return [];
  return checkFile('BANK_PFX_FILE', file, readSmallFile);
}

/** One PFX, or one pair of PEM files. */
function checkCertificate(env: Environment): Fault[] {
  const given = (['BANK_PFX_FILE', 'BANK_PFX_BASE64', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const).filter((name) =>
    isGiven(env, name),
  );
  const [first, ...others] = given;
  if (first === undefined) {
    return [toFault('BANK_PFX_FILE', '(or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing')];
  }
  if (first.startsWith('BANK_PFX')) {
    return others.length === 0 ? [] : [toFault(first, `is set together with ${others.join(' and ')}; keep one`)];
  }
  if (others.length === 1) return [];
  const missing = first === 'BANK_CERT_FILE' ? 'BANK_KEY_FILE' : 'BANK_CERT_FILE';
  return [toFault(missing, 'is missing; BANK_CERT_FILE and BANK_KEY_FILE go together')];
}

function checkInheritedProxy(env: Environment): Fault[] {
  if (isGiven(env, 'EGRESS_PROXY_URL')) return [];
  const { variable, result } = inheritedProxy(env);
  if (!result || result.success) return [];
  const problem = `${result.error.issues[0]?.message ?? 'is wrong'}; EGRESS_PROXY_URL overrides it`;
  return [{ ...toFault('EGRESS_PROXY_URL', problem), variable }];
}

/** By default only this machine may call. */
function checkListener(env: Environment, { HOST: host }: Partial<Values>): Fault[] {
  if (host === undefined || isLoopback(host)) return [];
  return (['ALLOWED_HOSTS', 'ALLOWED_CLIENTS'] as const)
    .filter((name) => !isSet(env[name]))
    .map((name) =>
      toFault(name, `must be set, because HOST (${host}) is not loopback: say who may call, and by which name`),
    );
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function checkRoots(values: Partial<Values>): Fault[] {
  const names = ['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE', 'REDIS_CA_FILE'] as const;
  return names.flatMap((name) => checkFile(name, values[name], readCertificates));
}

function checkTlsPair(env: Environment, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Partial<Values>): Fault[] {
  const faults = [...checkFile('TLS_CERT_FILE', cert, readCertificates), ...checkFile('TLS_KEY_FILE', key, readKey)];
  if (isSet(env['TLS_CERT_FILE']) !== isSet(env['TLS_KEY_FILE'])) {
    const missing = isSet(env['TLS_CERT_FILE']) ? 'TLS_KEY_FILE' : 'TLS_CERT_FILE';
    return [...faults, toFault(missing, 'is missing; TLS_CERT_FILE and TLS_KEY_FILE go together')];
  }
  if (!cert || !key || faults.length > 0) return faults;
  try {
    createSecureContext({ cert: readSmallFile(cert), key: readSmallFile(key) });
    return [];
  } catch {
    const problem = `(${key}) does not go with TLS_CERT_FILE (${cert}), or is encrypted; give the unencrypted key of that certificate`;
    return [toFault('TLS_KEY_FILE', problem)];
  }
}

function checkSharing({ SNAPSHOT_FILE: file, SNAPSHOT_KEY_FILE: keyFile }: Partial<Values>): Fault[] {
  const place = file === undefined ? null : placeProblem(file);
  return [
    ...(place === null ? [] : [toFault('SNAPSHOT_FILE', place)]),
    ...checkFile('SNAPSHOT_KEY_FILE', keyFile, readSealingKey),
  ];
}

/** Why a file cannot be written; null when it can, as far as that shows before. */
function placeProblem(file: string): string | null {
  const kind = (path: string) => statSync(path, { throwIfNoEntry: false });
  try {
    const found = kind(file);
    if (found?.isDirectory()) return `names ${file}, which is a directory, not a file`;
    // a rename would put a file in the place of a device that others use
    if (found && !found.isFile()) return `names ${file}, which is no regular file`;
    if (!kind(dirname(file))?.isDirectory()) return `names ${file}, whose directory does not exist`;
    accessSync(dirname(file), constants.W_OK);
    return null;
  } catch {
    return `names ${file}, whose directory this process may not write to`;
  }
}

/** The fault of a setting that names a file which cannot be used; none where it names no file. */
function checkFile(name: SettingName, file: string | undefined, use: (file: string) => unknown): Fault[] {
  if (file === undefined) return [];
  try {
    use(file);
    return [];
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    return [toFault(name, `names ${file}, which ${error.reason}`)];
  }
}

const readCertificates = (file: string) => parseCertificates(readSmallFile(file).toString('latin1'), file);

function readKey(file: string): void {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(readSmallFile(file).toString('latin1'))) {
    throw new FileUnusable(file, 'holds no PEM key');
  }
}
