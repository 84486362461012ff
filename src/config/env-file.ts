import { parse } from 'dotenv';
import { SettingsInvalid } from './settings-error.js';
import { SECRET_NAMES, type SettingName } from './settings-schema.js';
import { FileUnusable, readSmallFile } from './small-file.js';

/** Read from the working directory, for what the environment does not set. */
const ENV_FILE = '.env';

interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  /** One sentence each, without values. */
  readonly warnings: readonly string[];
}

/** The variables in `.env`; none if there is no such file. @throws SettingsInvalid when it cannot be read */
export function readEnvFile(): EnvFile {
  const text = readText();
  return { values: parse(text), warnings: [...duplicateNames(text), ...cutSecrets(text)] };
}

function readText(): string {
  try {
    return readSmallFile(ENV_FILE).toString('utf8');
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    const example = code === 'EACCES' ? `chmod 600 ${ENV_FILE}` : `mv ${ENV_FILE} old${ENV_FILE}`;
    throw new SettingsInvalid([{ variable: ENV_FILE, problem: `in ${process.cwd()} ${error.reason}`, example }]);
  }
}

/** An entry as dotenv finds it: NAME=value or NAME: value; a quoted value may have several lines, an unquoted one ends at #. */
const ENTRY =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;

const entriesOf = (text: string) =>
  [...text.replace(/\r\n?/g, '\n').matchAll(ENTRY)].map(([entry, name = '', value = '']) => ({ entry, name, value }));

/** Names that `.env` sets twice; the last value wins. */
export function duplicateNames(text: string): string[] {
  const names = entriesOf(text).map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return [...twice].map((name) => `${name} is set twice in .env; the last value counts`);
}

/** Secrets that dotenv cuts off at a # inside of them. */
export function cutSecrets(text: string): string[] {
  return entriesOf(text)
    .filter(({ name, value }) => SECRET_NAMES.includes(name as SettingName) && !/^(['"`]).*\1$/s.test(value.trim()))
    .filter(({ entry }) => /^[^#]*\S#/.test(entry))
    .map(({ name }) => `the value of ${name} in .env ends before its #; if # is part of it, put it in single quotes`);
}
