import { isIP } from 'node:net';
import { readListenerPair } from './certificate-files.js';
import { toError, withOtherExample, type SettingsError } from './settings-error.js';
import type { Command, SettingName } from './settings-schema.js';
import type { Values } from './settings.js';
import type { FileUnusable } from './small-file.js';

/** How Node was started. */
export interface Runtime {
  /** The command line flags. */
  readonly nodeFlags?: readonly string[];
  /** The address of the open inspector, if any. */
  readonly inspectorUrl?: string | undefined;
}

/** Errors between the settings that a command uses. A value that is wrong by itself is undefined here. */
export function crossCheck(
  env: NodeJS.ProcessEnv,
  values: Partial<Values>,
  { command, sandbox }: { readonly command: Command; readonly sandbox: boolean },
): SettingsError[] {
  const certificate = sandbox ? [] : checkClientCertificate(env);
  if (command !== 'serve') return certificate;
  return [
    ...certificate,
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

/** Options of Node that open the process, or write or print what is in its memory or on its connections. */
const LEAKS = /(?:^|[\s"'])(--(?:inspect|tls-keylog|trace-tls|heapsnapshot-|heap-prof|cpu-prof|report-)[a-z-]*)/g;

/** Checks what NODE_ENV=production forbids: options that open or print secrets, or pretend to be a bank. */
export function checkProduction(
  env: NodeJS.ProcessEnv,
  { nodeFlags = [], inspectorUrl }: Runtime,
  embeddedSandbox: boolean,
): SettingsError[] {
  if (env['NODE_ENV'] !== 'production') return [];
  const options = [...nodeFlags, env['NODE_OPTIONS'] ?? ''].join(' ').replaceAll('_', '-');
  const leaks = new Set([...options.matchAll(LEAKS)].map(([, name = '']) => name));
  if (inspectorUrl && ![...leaks].some((name) => name.startsWith('--inspect'))) leaks.add('an open inspector');
  const start = 'NODE_ENV=production node --disable-sigusr1 dist/main.js';
  const errors: SettingsError[] = [...leaks].map((name) => {
    const problem = `is production, which forbids ${name}: secrets would leave the process`;
    return { variable: 'NODE_ENV', problem, example: start };
  });
  if (embeddedSandbox) {
    const problem =
      'is production, which forbids --sandbox (npm start has it): set the bank settings and run npm run start:prod, or try the sandbox without NODE_ENV';
    errors.push({ variable: 'NODE_ENV', problem, example: start });
  }
  if (env['NODE_DEBUG']) {
    errors.push({
      variable: 'NODE_DEBUG',
      problem: 'prints secrets, so production forbids it',
      example: 'NODE_DEBUG=',
    });
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    errors.push({
      variable: 'NODE_TLS_REJECT_UNAUTHORIZED',
      problem: "is 0, which production forbids: any server would be trusted; set BANK_CA_FILE to the bank's roots",
      example: 'NODE_TLS_REJECT_UNAUTHORIZED=',
    });
  }
  return errors;
}
