import { ConfigModule } from '@nestjs/config';
import { readSettings, type Environment, type ReadOptions, type SettingsRead } from './read-settings.js';
import { VARIABLE_NAMES, VARIABLES } from './variables.js';

/** Takes secrets that were given directly out of an environment, for whatever may print or inherit it later. */
export function forgetSecrets(environment: Record<string, string | undefined>): void {
  for (const name of VARIABLE_NAMES) if (VARIABLES[name].secret) delete environment[name];
}

/**
 * Settings from the environment and, where a variable is not set there, from `.env` in the working directory.
 * `validate` gives nothing back, so no value of the file (a secret, perhaps) is copied into `process.env`.
 * @throws SettingsInvalid
 */
export async function loadSettings(options: ReadOptions): Promise<SettingsRead> {
  let read: SettingsRead | undefined;
  await ConfigModule.forRoot({
    validate: (env: Environment) => {
      read = readSettings(env, options);
      return {};
    },
  });
  if (!read) throw new Error('@nestjs/config did not call validate');
  return read;
}
