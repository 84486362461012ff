import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'dotenv';
import { SettingsInvalid } from './settings-error.js';
import { SECRET_NAMES } from './settings-schema.js';
import { FileUnusable, readTextFile } from '../files/small-file.js';

/** Read from the working directory, for variables that the environment does not set. */
const ENV_FILE = '.env';

/** The path of `.env` if it exists, else undefined. */
export const existingEnvFile = (): string | undefined => (existsSync(ENV_FILE) ? resolve(ENV_FILE) : undefined);

/** Where to correct a setting. */
export const whereSettingsAre = (): string => `the environment or ${existingEnvFile() ?? ENV_FILE}`;

/** The variables in `.env`, and warnings without values. @throws SettingsInvalid if the file cannot be read */
export function readEnvFile(): { readonly values: NodeJS.ProcessEnv; readonly warnings: readonly string[] } {
  try {
    const text = readTextFile(ENV_FILE);
    return { values: parse(text), warnings: warningsOf(text) };
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return { values: {}, warnings: [] };
    const problem = `in ${process.cwd()} ${error.reason}`;
    throw new SettingsInvalid([{ variable: ENV_FILE, problem, example: `mv ${ENV_FILE} old${ENV_FILE}` }]);
  }
}

/** Names that are set twice, and secrets cut off at a # inside them. A line of a quoted value may look like an entry. */
export function warningsOf(text: string): string[] {
  const entries = text
    .split(/[\r\n]+/)
    .flatMap((line) =>
      Object.entries(parse(line)).map(([name, value]) => ({ name, isCut: line.includes(`${value || '='}#`) })),
    );
  const twice = [...Map.groupBy(entries, ({ name }) => name)].filter(([, each]) => each.length > 1);
  const cut = entries.filter(({ name, isCut }) => isCut && SECRET_NAMES.some((secret) => secret === name));
  return [
    ...twice.map(([name]) => `${name} is set twice in .env; the last value counts`),
    ...cut.map(
      ({ name }) => `the value of ${name} in .env ends before its #; if # is part of it, put it in single quotes`,
    ),
  ];
}
