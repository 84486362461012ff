import inspector from 'node:inspector';
import { isIP } from 'node:net';
import { readCertificates, readListenerPair } from '../files/certificate-files.js';
import { examineDates, examineListener } from '../files/examine-certificates.js';
import { toError, type SettingsError } from './settings-error.js';
import type { SettingName } from './settings-schema.js';
import type { Values } from './settings.js';
import { whyUnusable, readSmallFile } from '../files/small-file.js';

/** Errors in combinations of settings. A value that is invalid by itself is its default here, or undefined. */
export function crossCheck(env: NodeJS.ProcessEnv, values: Partial<Values>, sandbox: boolean): SettingsError[] {
  return [
    ...(sandbox ? [] : checkClientCertificate(env)),
    ...checkListener(env, values),
    ...checkPair(env, 'TLS_CERT_FILE', 'TLS_KEY_FILE'),
    ...checkListenerKey(values),
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

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function checkListenerKey({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Partial<Values>): SettingsError[] {
  if (!cert || !key) return [];
  const problem = whyUnusable(() => readListenerPair(cert, key));
  return problem === null ? [] : [toError('TLS_KEY_FILE', problem, key)];
}

/** Warnings about CA files and the listener's certificate. The client certificate is examined when it is opened. */
export function examineCertificates(values: Partial<Values>, now = new Date()): string[] {
  const warnings: string[] = [];
  const add = (name: SettingName, found: readonly string[]) =>
    warnings.push(...found.map((each) => `${name}: ${each.replace(/\.$/, '')}`));
  for (const name of ['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE', 'REDIS_CA_FILE'] as const) {
    const file = values[name];
    // an unusable file is reported elsewhere
    if (file) whyUnusable(() => add(name, examineDates(readCertificates(file).certificates, now)));
  }
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, ALLOWED_HOSTS: hosts = [] } = values;
  if (cert && key) whyUnusable(() => add('TLS_CERT_FILE', examineListener(readListenerPair(cert, key), hosts, now)));
  return warnings;
}

/** Unreadable client certificates. If there is no other error, opening the certificate reports them, with exit code 3. */
export function checkCertificateFiles(values: Partial<Values>): SettingsError[] {
  return (['BANK_PFX_FILE', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const).flatMap((name) => {
    const file = values[name];
    const problem = file ? whyUnusable(() => readSmallFile(file)) : null;
    return problem === null ? [] : toError(name, problem, file);
  });
}

/** Node options that open the process, or expose the contents of its memory or connections. */
const LEAKS =
  /^--(?:abort-on-uncaught-exception|inspect|tls-keylog|trace-tls|heapsnapshot-|heap-prof|cpu-prof|prof|report-)[a-z-]*/;

/** Checks what NODE_ENV=production forbids: options that open or print secrets, or pretend to be a bank. */
export function checkProduction(
  env: NodeJS.ProcessEnv,
  embeddedSandbox: boolean,
  nodeFlags: readonly string[] = process.execArgv,
  inspectorUrl = inspector.url(),
): SettingsError[] {
  if (env['NODE_ENV'] !== 'production') return [];
  // Node drops quotes and backslashes
  const options = [...nodeFlags, ...(env['NODE_OPTIONS'] ?? '').replaceAll(/["\\]/g, '').split(/\s+/)];
  const leaks = new Set(options.flatMap((option) => LEAKS.exec(option.replaceAll('_', '-'))?.[0] ?? []));
  if (inspectorUrl && ![...leaks].some((name) => name.startsWith('--inspect'))) leaks.add('an open inspector');
  const forbidden = [...leaks].map((name) => `${name}: secrets would leave the process`);
  if (embeddedSandbox) {
    forbidden.push(
      '--sandbox (npm start has it): set the bank settings and run npm run start:prod, or try the sandbox without NODE_ENV',
    );
  }
  const example = 'NODE_ENV=production node --disable-sigusr1 dist/main.js';
  const errors: SettingsError[] = forbidden.map((what) => ({
    variable: 'NODE_ENV',
    problem: `is production, which forbids ${what}`,
    example,
  }));
  if (env['NODE_DEBUG']) {
    const problem = 'prints secrets, so production forbids it';
    errors.push({ variable: 'NODE_DEBUG', problem, example: 'NODE_DEBUG=' });
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const problem = "is 0, which production forbids: TLS could trust any server; set BANK_CA_FILE to the bank's roots";
    errors.push({ variable: 'NODE_TLS_REJECT_UNAUTHORIZED', problem, example: 'NODE_TLS_REJECT_UNAUTHORIZED=' });
  }
  return errors;
}
