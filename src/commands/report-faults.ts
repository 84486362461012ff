import type { Logger } from 'pino';
import type { SettingsInvalid } from '../settings/read-settings.js';

/** All faults of the settings for people, one a line: the variable, what is wrong, an example. */
export function describeFaults({ faults }: SettingsInvalid): string {
  const lines = faults.map(
    ({ variable, problem, example }) => `  ${variable} ${problem}${example === undefined ? '' : `, e.g. ${example}`}`,
  );
  return `The settings can not be used:\n${lines.join('\n')}\nSet them in the environment or in .env; the README lists them all. To try it without a bank: npm start\n`;
}

/** The same for machines. */
export function logFaults(logger: Logger, { faults }: SettingsInvalid): void {
  logger.error({ event: 'config.invalid', faults }, 'the settings can not be used');
}
