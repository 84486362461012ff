import { parse } from 'dotenv';
import { SettingsInvalid } from './settings-error.js';
import { SECRET_NAMES, type SettingName } from './settings-schema.js';
import { FileUnusable, readTextFile } from './small-file.js';

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
    return readTextFile(ENV_FILE);
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    const example = code === 'EACCES' ? `chmod 600 ${ENV_FILE}` : `mv ${ENV_FILE} old${ENV_FILE}`;
    throw new SettingsInvalid([{ variable: ENV_FILE, problem: `in ${process.cwd()} ${error.reason}`, example }]);
  }
}

/** The beginning of an entry, NAME=value or NAME: value. A line of a quoted value may look like one. */
const ENTRY = /^[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=|:[ \t])(.*)$/gm;

/** Names that `.env` sets twice; the last value wins. */
export function duplicateNames(text: string): string[] {
  const names = [...text.matchAll(ENTRY)].map(([, name = '']) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return [...twice].map((name) => `${name} is set twice in .env; the last value counts`);
}

/** Secrets that dotenv cuts off at a # inside of them. */
export function cutSecrets(text: string): string[] {
  return [...text.matchAll(ENTRY)]
    .filter(
      ([, name, value = '']) => SECRET_NAMES.includes(name as SettingName) && /^(?!\s*["'`])([^#]*\S)?#/.test(value),
    )
    .map(([, name]) => `the value of ${name} in .env ends before its #; if # is part of it, put it in single quotes`);
}
