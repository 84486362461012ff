import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';
import { generate } from './write-settings.js';

const root = join(import.meta.dirname, '../..');

// npm run docs:settings
if (process.env['WRITE_DOCS']) for (const [path, text] of generate()) writeFileSync(join(root, path), text);

it.each([...generate()])('%s is as npm run docs:settings writes it', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

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
