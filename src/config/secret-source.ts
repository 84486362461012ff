import { FileUnusable, readSecretFile } from './small-file.js';
import { settingsSchema, type SettingName } from './settings-schema.js';

/** A secret and where it comes from; `read` looks again, so that a changed file is seen. */
export interface SecretSource {
  /** The variable that gives it, for messages. */
  readonly variable: string;
  /** The file it is read from, or null when the environment has it. */
  readonly file: string | null;
  /** @throws FileUnusable */
  read(): string;
}

export function textSecret(name: SettingName, text: string): SecretSource {
  return { variable: name, file: null, read: () => text };
}

/** A secret in a file, checked by the rule of its setting each time it is read. */
export function fileSecret(name: SettingName, file: string): SecretSource {
  return {
    variable: `${name}_FILE`,
    file,
    read: () => {
      const text = readSecret(name, file);
      const result = settingsSchema.shape[name].safeParse(text);
      if (!result.success) throw new FileUnusable(file, result.error.issues[0]?.message ?? 'is wrong');
      return text;
    },
  };
}

const MAY_BE_EMPTY = new Set<SettingName>(['BANK_PFX_PASSCODE', 'BANK_KEY_PASSPHRASE']);

/** The text of a file with a secret. @throws FileUnusable */
export function readSecret(name: SettingName, file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    if (MAY_BE_EMPTY.has(name) && error instanceof FileUnusable && error.reason === 'is empty') return '';
    throw error;
  }
}
