import { join } from 'node:path';
import type { SettingsInvalid } from '../config/settings-error.js';

/** Exit codes of `serve` and `sandbox`; those of the doctor are in docs/troubleshooting.md. */
export const EXIT = { stopped: 0, internalError: 1, settings: 2, certificate: 3 } as const;

/** All errors of the settings for people, one a line: the variable, the reason, an example. */
export function describeErrors({ errors, warnings }: SettingsInvalid): string {
  const lines = errors.map(({ variable, problem, example }) => `  ${variable} ${problem}, e.g. ${example}`);
  const hints = warnings.map((warning) => `  (${warning})`);
  return `The settings cannot be used:\n${[...lines, ...hints].join('\n')}\nCorrect them in the environment or in ${join(process.cwd(), '.env')}. docs/settings.md lists them all. To try it without a bank: npm start\n`;
}
