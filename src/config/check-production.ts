import { isSet, type Environment } from './environment.js';
import type { Fault } from './fault.js';

/** How the runtime was started. */
export interface Runtime {
  /** Its command line flags. */
  readonly runtimeFlags?: readonly string[];
  /** Where a debugger may attach, when it may. */
  readonly inspectorUrl?: string | undefined;
}

/** What is refused with NODE_ENV=production, because it opens or prints secrets, or pretends to be a bank. */
export function checkProduction(env: Environment, runtime: Runtime, embeddedSandbox: boolean): Fault[] {
  if (env['NODE_ENV'] !== 'production') return [];
  const faults: Fault[] = [];
  const refuse = (variable: string, problem: string) => faults.push({ variable, problem });
  if (embeddedSandbox) {
    refuse(
      'NODE_ENV',
      'is production, where --sandbox is forbidden: set the bank settings and start without it, or unset NODE_ENV',
    );
  }
  const flags = [...(runtime.runtimeFlags ?? []).map(normal), ...flagsOf(env['NODE_OPTIONS'])];
  const inspect = flags.find((flag) => flag.startsWith('--inspect'));
  if (inspect !== undefined || runtime.inspectorUrl !== undefined) {
    const what = inspect ?? 'an open inspector';
    refuse('NODE_ENV', `is production, where ${what} is refused (it opens every secret in memory); start without it`);
  }
  if (flags.some((flag) => /^--tls-keylog\b/.test(flag))) {
    refuse(
      'NODE_ENV',
      'is production, where --tls-keylog is refused (with it, recorded connections can be read); start without it',
    );
  }
  if (isSet(env['NODE_DEBUG'])) {
    refuse('NODE_DEBUG', 'is set, which prints what connections carry, secrets too; unset it in production');
  }
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    refuse(
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'is 0, which trusts any server; unset it, and give the roots of the bank as BANK_CA_FILE',
    );
  }
  return faults;
}

/** NODE_OPTIONS as flags; Node takes double quotes and backslashes there, and _ in place of -. */
const flagsOf = (options = ''): string[] => options.replace(/["\\]/g, '').split(/\s+/).map(normal);

const normal = (flag: string): string => {
  const [name = '', ...value] = flag.split('=');
  return [name.replaceAll('_', '-'), ...value].join('=');
};
