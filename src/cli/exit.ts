import type { SettingsInvalid } from '../config/read-settings.js';

/** Exit codes of `serve` and `sandbox`; those of the doctor are in docs/troubleshooting.md. */
export const EXIT = { stopped: 0, ownFault: 1, settings: 2, pfx: 3 } as const;

/** All faults of the settings for people, one a line: the variable, what is wrong, an example. */
export function describeFaults({ faults, warnings }: SettingsInvalid): string {
  const lines = faults.map(
    ({ variable, problem, example }) => `  ${variable} ${problem}${example === undefined ? '' : `, e.g. ${example}`}`,
  );
  const hints = warnings.map((warning) => `  (${warning})`);
  return `The settings cannot be used:\n${[...lines, ...hints].join('\n')}\nCorrect them in the environment or in .env; docs/settings.md lists them all. To try it without a bank: npm start\n`;
}
