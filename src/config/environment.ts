import type { SecretSource } from './settings.js';
import { FileUnusable, readSecretFile } from './small-file.js';
import { VARIABLES, type VariableName } from './variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as not set. */
export const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

/** Set, be it directly or as a file. */
export const isGiven = (env: Environment, name: VariableName): boolean =>
  isSet(env[name]) || (VARIABLES[name].secret === true && isSet(env[`${name}_FILE`]));

/** A secret as it is given: in the environment, or in a file that is read again each time. */
export function secretSource(name: VariableName, env: Environment): SecretSource {
  const file = env[`${name}_FILE`];
  if (isSet(file)) return fileSecret(name, file);
  const text = env[name] ?? '';
  return { variable: name, file: null, read: () => text };
}

/** A secret in a file, checked by the rule of its variable each time it is read. */
export function fileSecret(name: VariableName, file: string): SecretSource {
  return {
    variable: `${name}_FILE`,
    file,
    read: () => {
      const text = readSecret(name, file);
      const result = VARIABLES[name].schema.safeParse(text);
      if (!result.success) throw new FileUnusable(file, result.error.issues[0]?.message ?? 'is wrong');
      return text;
    },
  };
}

/** The text of a file with a secret; only the passcode may be empty. @throws FileUnusable */
export function readSecret(name: VariableName, file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    if (name === 'BANK_PFX_PASSCODE' && error instanceof FileUnusable && error.reason === 'is empty') return '';
    throw error;
  }
}
