import { isSet, type Environment } from './environment.js';
import type { SettingsError } from './settings-error.js';

/** How Node was started. */
export interface Runtime {
  /** Its command line flags. */
  readonly runtimeFlags?: readonly string[];
  /** Where a debugger may attach, if it may. */
  readonly inspectorUrl?: string | undefined;
}

/** Checks what NODE_ENV=production forbids: options that open or print secrets, or pretend to be a bank. */
export function checkProduction(env: Environment, runtime: Runtime, embeddedSandbox: boolean): SettingsError[] {
  if (env['NODE_ENV'] !== 'production') return [];
  const flags = [...(runtime.runtimeFlags ?? []).map(normal), ...flagsOf(env['NODE_OPTIONS'])];
  const inspect = flags.find((flag) => flag.startsWith('--inspect')) ?? (runtime.inspectorUrl && 'an open inspector');
  const forbidden = (what: string, why: string): SettingsError => ({
    variable: 'NODE_ENV',
    problem: `is production, which forbids ${what}: ${why}`,
    example: 'NODE_ENV=development',
  });
  return [
    ...(embeddedSandbox ? [forbidden('--sandbox', 'set the bank settings and start without it')] : []),
    ...(inspect ? [forbidden(inspect, 'it opens every secret in memory')] : []),
    ...(flags.some((flag) => /^--tls-keylog\b/.test(flag))
      ? [forbidden('--tls-keylog', 'with it, recorded connections can be read')]
      : []),
    ...(isSet(env['NODE_DEBUG'])
      ? [{ variable: 'NODE_DEBUG', problem: 'prints secrets, which production forbids', example: 'NODE_DEBUG=' }]
      : []),
    ...(env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? [
          {
            variable: 'NODE_TLS_REJECT_UNAUTHORIZED',
            problem: "is 0, which production forbids: it trusts any server; give the bank's roots as BANK_CA_FILE",
            example: 'NODE_TLS_REJECT_UNAUTHORIZED=',
          },
        ]
      : []),
  ];
}

/** NODE_OPTIONS as flags; Node takes double quotes and backslashes there, and _ in place of -. */
const flagsOf = (options = ''): string[] => options.replace(/["\\]/g, '').split(/\s+/).map(normal);

const normal = (flag: string): string => {
  const [name = '', ...value] = flag.split('=');
  return [name.replaceAll('_', '-'), ...value].join('=');
};
