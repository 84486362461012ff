import { SECRET_NAMES, type SettingName } from './settings-schema.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as not set. */
export const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

/** Set directly or as a file. */
export const isGiven = (env: Environment, name: SettingName): boolean =>
  isSet(env[name]) || (SECRET_NAMES.includes(name) && isSet(env[`${name}_FILE`]));
