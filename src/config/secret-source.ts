import { FileUnusable, readSecretFile } from './small-file.js';
import { settingsSchema, type SettingName } from './settings-schema.js';

/** A secret and where it comes from. `read` reads a file again, so that a change is seen. */
export interface SecretSource {
  /** The file it is read from, or null when the environment has it. */
  readonly file: string | null;
  /** @throws FileUnusable */
  read(): string;
}

/** A secret in a file, checked by the rule of its setting each time it is read. */
export function fileSecret(name: SettingName, file: string): SecretSource {
  return {
    file,
    read: () => {
      const text = readSecretFile(file);
      const { error } = settingsSchema.shape[name].safeParse(text);
      if (error) throw new FileUnusable(file, error.issues[0]?.message ?? 'is wrong');
      return text;
    },
  };
}
