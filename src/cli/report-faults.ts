import type { Logger } from 'pino';
import type { SettingsInvalid } from '../config/read-settings.js';

/** All faults of the settings for people, one a line: the variable, what is wrong, an example. */
export function describeFaults({ faults, warnings }: SettingsInvalid): string {
  const lines = faults.map(
    ({ variable, problem, example }) => `  ${variable} ${problem}${example === undefined ? '' : `, e.g. ${example}`}`,
  );
  const hints = warnings.map((warning) => `  (${warning})`);
  return `The settings can not be used:\n${[...lines, ...hints].join('\n')}\nSet them in the environment or in .env; the README lists them all. To try it without a bank: npm start\n`;
}

/** The same for machines. */
export function logFaults(logger: Logger, { faults, warnings }: SettingsInvalid): void {
  logger.error({ event: 'config.invalid', faults, warnings }, 'the settings can not be used');
}
