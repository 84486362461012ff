import { isSet, type Environment } from './environment.js';
import type { SettingsError } from './settings-error.js';

/** The options that Node was started with. */
export interface Runtime {
  /** The command line flags. */
  readonly runtimeFlags?: readonly string[];
  /** The address of the open inspector, if any. */
  readonly inspectorUrl?: string | undefined;
}

/** Checks what NODE_ENV=production forbids: options that open or print secrets, or pretend to be a bank. */
export function checkProduction(env: Environment, runtime: Runtime, embeddedSandbox: boolean): SettingsError[] {
  if (env['NODE_ENV'] !== 'production') return [];
  const errors: SettingsError[] = [];
  const forbid = (variable: string, problem: string, value = '') =>
    errors.push({ variable, problem, example: `${variable}=${value}` });
  const forbidFlag = (flag: string, why: string) =>
    forbid('NODE_ENV', `is production, which forbids ${flag}: ${why}`, 'development');

  const flags = [...(runtime.runtimeFlags ?? []), ...flagsOf(env['NODE_OPTIONS'])].map(normal);
  const inspect = flags.find((flag) => flag.startsWith('--inspect')) ?? (runtime.inspectorUrl && 'an open inspector');
  if (embeddedSandbox) forbidFlag('--sandbox', 'set the bank settings and start without it');
  if (inspect) forbidFlag(inspect, 'it exposes every secret in memory');
  if (flags.some((flag) => /^--tls-keylog\b/.test(flag))) {
    forbidFlag('--tls-keylog', 'it makes recorded connections readable');
  }
  if (isSet(env['NODE_DEBUG'])) forbid('NODE_DEBUG', 'prints secrets, so production forbids it');
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const problem = "is 0, which production forbids: any server would be trusted; set BANK_CA_FILE to the bank's roots";
    forbid('NODE_TLS_REJECT_UNAUTHORIZED', problem);
  }
  return errors;
}

/** The flags in NODE_OPTIONS, where Node accepts double quotes and backslashes. */
const flagsOf = (options = ''): string[] => options.replace(/["\\]/g, '').split(/\s+/);

/** Node takes _ in place of - in the name of a flag. */
const normal = (flag: string): string => flag.replace(/^[^=]*/, (name) => name.replaceAll('_', '-'));
