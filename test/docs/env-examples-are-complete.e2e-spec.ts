import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';

const root = join(import.meta.dirname, '../..');

it.each([
  ['config/bank.env.example', false],
  ['config/sandbox.env.example', true],
])('%s lacks nothing once the files it names are there', (path, sandbox) => {
  const read = () =>
    readSettings(parseEnv(readFileSync(join(root, path), 'utf8')) as Record<string, string>, { sandbox });
  const errors: string[] = [];
  try {
    read();
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    errors.push(...error.errors.map(({ variable, problem }) => `${variable} ${problem}`));
  }
  expect(errors.filter((error) => !error.includes('does not exist'))).toEqual([]);
});
