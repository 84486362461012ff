import { FileUnusable, readSecretFile } from './small-file.js';
import { settingsSchema, type SettingName } from './settings-schema.js';

/** A secret and where it comes from. `read` reads a file again, so that a change is seen. */
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
      const text = readSecretFile(file);
      const { error } = settingsSchema.shape[name].safeParse(text);
      if (error) throw new FileUnusable(file, error.issues[0]?.message ?? 'is wrong');
      return text;
    },
  };
}
