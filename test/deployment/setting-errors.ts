import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';

/** The errors of a container's environment, except for files that only the container has. */
export function settingErrors(environment: Readonly<Record<string, string>>, sandbox = false): string[] {
  const unknown = Object.keys(environment).filter((name) => !KNOWN_NAMES.includes(name));
  try {
    readSettings(environment, { sandbox, command: sandbox ? 'sandbox' : 'serve' });
    return unknown;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const errors = error.errors.filter(({ problem }) => !problem.includes('does not exist'));
    return [...unknown, ...errors.map(({ variable, problem }) => `${variable} ${problem}`)];
  }
}
