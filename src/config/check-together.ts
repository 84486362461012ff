import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isGiven, isSet, type Environment } from './environment.js';
import { toFault, type Fault } from './fault.js';
import { FileUnusable, parseCertificates, readSealingKey, readSmallFile } from './small-file.js';
import { inheritedProxy } from './to-settings.js';
import { type Values } from './variables.js';

const MAX_FILE_BYTES = 1_048_576;

/** What is wrong with the settings taken together, and with the files that they name. */
export function checkTogether(env: Environment, values: Partial<Values>, sandbox: boolean): Fault[] {
  return [
    ...(sandbox ? [] : [...checkPfx(env), ...checkInheritedProxy(env)]),
    ...checkListener(env, values),
    ...checkPemFiles(values),
    ...checkTlsPair(env, values),
    ...checkSharing(values),
  ];
}

/**
 * A PFX file that cannot be read, to be told with the other faults. Alone it is no fault of the settings: reading the
 * certificate tells it, with an exit code of its own.
 */
export function checkPfxFile({ BANK_PFX_FILE: file }: Partial<Values>, others: readonly Fault[]): Fault[] {
  if (file === undefined || others.some(({ variable }) => variable === 'BANK_PFX_FILE')) return [];
  const problem = problemOf(file, read);
  return problem === null ? [] : [toFault('BANK_PFX_FILE', problem)];
}

function checkPfx(env: Environment): Fault[] {
  const [file, text] = [isGiven(env, 'BANK_PFX_FILE'), isGiven(env, 'BANK_PFX_BASE64')];
  if (file && text) return [toFault('BANK_PFX_FILE', 'and BANK_PFX_BASE64 are both set; keep one')];
  return file || text ? [] : [toFault('BANK_PFX_FILE', 'or BANK_PFX_BASE64 is missing')];
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

function checkPemFiles(values: Partial<Values>): Fault[] {
  return (['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE', 'REDIS_CA_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE'] as const).flatMap(
    (name) => {
      const file = values[name];
      const problem = file === undefined ? null : problemOf(file, name === 'TLS_KEY_FILE' ? readKey : readCertificates);
      return problem === null ? [] : [toFault(name, problem)];
    },
  );
}

function checkTlsPair(env: Environment, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Partial<Values>): Fault[] {
  if (isSet(env['TLS_CERT_FILE']) !== isSet(env['TLS_KEY_FILE'])) {
    const missing = isSet(env['TLS_CERT_FILE']) ? 'TLS_KEY_FILE' : 'TLS_CERT_FILE';
    return [toFault(missing, 'is missing; TLS_CERT_FILE and TLS_KEY_FILE go together')];
  }
  if (!cert || !key || problemOf(cert, readCertificates) || problemOf(key, readKey)) return [];
  try {
    createSecureContext({ cert: read(cert), key: read(key) });
    return [];
  } catch {
    const problem = `(${key}) does not go with TLS_CERT_FILE (${cert}), or is encrypted; give the unencrypted key of that certificate`;
    return [toFault('TLS_KEY_FILE', problem)];
  }
}

function checkSharing({ SNAPSHOT_FILE: file, SNAPSHOT_KEY_FILE: keyFile }: Partial<Values>): Fault[] {
  const key = keyFile === undefined ? null : problemOf(keyFile, readSealingKey);
  const place = file === undefined ? null : placeProblem(file);
  return [
    ...(place === null ? [] : [toFault('SNAPSHOT_FILE', place)]),
    ...(key === null ? [] : [toFault('SNAPSHOT_KEY_FILE', key)]),
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

/** Why a file cannot be used, to read on after the variable that names it; null when it can. */
function problemOf(file: string, use: (file: string) => unknown): string | null {
  try {
    use(file);
    return null;
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    return `names ${file}, which ${error.reason}`;
  }
}

const read = (file: string): Buffer => readSmallFile(file, MAX_FILE_BYTES);

const readCertificates = (file: string) => parseCertificates(read(file).toString('latin1'), file);

function readKey(file: string): void {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(read(file).toString('latin1'))) {
    throw new FileUnusable(file, 'holds no PEM key');
  }
}
