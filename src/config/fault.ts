import { describeSetting, type SettingName } from './settings-schema.js';

/** Read from the working directory, for what the environment does not set. */
export const ENV_FILE = '.env';

/** One thing that is wrong with the settings. */
export interface Fault {
  /** Its name; `ENV_FILE` where that file itself cannot be read. */
  readonly variable: string;
  /** What is wrong; reads on after the variable's name. Never holds the value of a secret. */
  readonly problem: string;
  /** A line of `.env` that would do: NAME=value. */
  readonly example?: string;
}

/**
 * A fault of a setting, with its example; a credential is shown as a file, which is the better way to give it. A path is its own
 * example: where the file is at fault, another path would not help.
 */
export function toFault(name: SettingName, problem: string): Fault {
  if (isOfFile(problem)) return { variable: name, problem };
  const { secret, fillIn, example } = describeSetting(name);
  return { variable: name, problem, example: secret && fillIn ? fileExample(name) : `${name}=${example}` };
}

/** Whether the file that the setting names is at fault, and not how the setting is written. */
export const isOfFile = (problem: string): boolean => problem.startsWith('names ');

/** How a secret is given as a file: BANK_PASSWORD_FILE=/run/secrets/bank-password. */
export const fileExample = (name: SettingName): string =>
  `${name}_FILE=/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`;
