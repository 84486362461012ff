import type { SecretSource } from './kinds.js';
import { FileUnusable, readSecretFile } from './small-file.js';
import { settingsSchema, type SettingName } from './settings-schema.js';

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
