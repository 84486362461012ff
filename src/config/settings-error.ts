import { describeSetting, type SettingName } from './settings-schema.js';

/** One error of a setting. */
export interface SettingsError {
  /** The variable, or `.env` where that file itself cannot be read. */
  readonly variable: string;
  /** Reads on after the variable's name. Never has the value of a secret. */
  readonly problem: string;
  /** A line of `.env` that would do: NAME=value. For an option of Node, the command without it. */
  readonly example: string;
}

/** Every error of the settings, in one exception. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  constructor(
    readonly errors: readonly SettingsError[],
    /** Sentences that may explain an error, such as a misspelled name. */
    readonly warnings: readonly string[] = [],
  ) {
    super(errors.map(({ variable, problem }) => `${variable} ${problem}`).join('; '));
  }
}

/**
 * Creates an error of a setting with an example. For a credential, the example is a file, which is the better way to provide
 * it.
 */
export function toError(name: SettingName, problem: string): SettingsError {
  // a file whose owner or mode is wrong (small-file.ts)
  const [, what, command] = /^(.*): "(chown [^"]+)"$/s.exec(problem) ?? [];
  if (what && command) return { variable: name, problem: what, example: command };
  const { secret, required, example } = describeSetting(name);
  return { variable: name, problem, example: secret && required ? fileExample(name) : `${name}=${example}` };
}

/** The same error with an example that differs from what is set: a path that does not exist may be the usual one. */
export function withOtherExample(error: SettingsError, given: string | undefined): SettingsError {
  const { variable, example } = error;
  if (given === undefined || !example.endsWith(`=${given}`)) return error;
  return { ...error, example: `${variable}=/path/to/${given.split('/').at(-1) || 'file'}` };
}

/** Example of a secret in a file: BANK_PASSWORD_FILE=/run/secrets/bank-password. */
export const fileExample = (name: SettingName): string =>
  `${name}_FILE=/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`;
