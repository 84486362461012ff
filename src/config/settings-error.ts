import { basename } from 'node:path';
import { describeSetting, type SettingName } from './settings-schema.js';

/** An error in a setting. */
export interface SettingsError {
  /** The variable, or `.env` where that file itself cannot be read. */
  readonly variable: string;
  /** Continues the sentence that begins with the variable: "is missing". Never contains the value of a secret. */
  readonly problem: string;
  /** A valid line for `.env`: NAME=value. For a Node option, the command without it. */
  readonly example: string;
}

/** Every error of the settings, in one exception. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  constructor(
    readonly errors: readonly SettingsError[],
    /** Sentences that may explain an error, such as a misspelled name. */
    readonly warnings: readonly string[] = [],
    /** True if NODE_ENV is production, which forbids the embedded sandbox. */
    readonly inProduction = false,
  ) {
    super(errors.map(({ variable, problem }) => `${variable} ${problem}`).join('; '));
  }
}

/**
 * Creates a setting's error with an example. For a credential, the example is a file, the better way to provide it.
 * @param given the current value, which the example must not repeat
 * @param variable the setting, its `_FILE` form, or a variable that it inherits
 */
export function toError(name: SettingName, problem: string, given?: string, variable: string = name): SettingsError {
  const { secret, required, example } = describeSetting(name);
  const file = `${name}_FILE`;
  const [shown, usual] = variable === file || (secret && required) ? [file, secretFile(name)] : [name, example];
  const value = usual === given ? `/path/to/${basename(given)}` : usual;
  return { variable, problem, example: `${shown}=${value}` };
}

/** The usual path of a secret: /run/secrets/bank-password. */
export const secretFile = (name: SettingName): string => `/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`;
