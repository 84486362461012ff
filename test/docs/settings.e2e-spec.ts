import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  describeSetting,
  GROUPS,
  SETTING_NAMES,
  settingsSchema,
  type SettingName,
} from '../../src/config/settings-schema.js';
import { readSettings, SettingsInvalid } from '../../src/config/read-settings.js';
import { EXAMPLES, exampleRows, pageRows, writeExample, writePage, type Row } from '../support/settings-page.js';

const root = join(import.meta.dirname, '../..');
const PAGE = 'docs/settings.md';
const read = (path: string) => readFileSync(join(root, path), 'utf8');

// npm run docs:settings
if (process.env['WRITE_DOCS']) {
  writeFileSync(join(root, PAGE), writePage(read(PAGE)));
  for (const path of EXAMPLES) writeFileSync(join(root, path), writeExample(path, read(path)));
}

/** What a row of the page must say, from the table of variables alone. */
const EXPECTED: Row[] = Object.keys(GROUPS).flatMap((group) =>
  SETTING_NAMES.filter((name) => describeSetting(name).group === group).map((name) => {
    const { secret, default: otherwise, unset, allowed, meaning } = describeSetting(name);
    return {
      name: secret ? `${name}, _FILE` : name,
      default: otherwise ?? unset ?? '',
      allowed,
      meaning,
    };
  }),
);

describe('docs/settings.md', () => {
  it('has a row for each setting, with its default, what is allowed and what it means, and no other row', () => {
    expect(pageRows(read(PAGE))).toEqual(EXPECTED);
  });

  it.each([
    ['an altered default', /`6`(?= +\| 1–100)/, '`7`'],
    ['an altered meaning', 'Calls to the bank in flight at once.', 'Calls to the bank in flight at most.'],
    ['an altered range', '1–100 ', '1–101 '],
    ['a row too many', /^(\| `)BANK_PAGE_SIZE(`.*\n)/m, '$1BANK_PAGE_SIZE$2$1BANK_PAGES$2'],
    ['a row that is missing, though the text speaks of it', /^\| `BANK_PAGE_SIZE`.*\n/m, ''],
  ])('its check finds %s', (_name, from, to) => {
    const altered = read(PAGE).replace(from, to).concat('\nBANK_PAGE_SIZE is `1000` by default.\n');
    expect(pageRows(altered)).not.toEqual(EXPECTED);
  });
});

describe.each(EXAMPLES)('%s', (path) => {
  it('has the comment and the line of each setting it is for, and no other', () => {
    expect(exampleRows(read(path))).toEqual(exampleRows(writeExample(path, read(path))));
    for (const { name, meaning } of exampleRows(read(path))) {
      expect({ name, meaning }).toEqual({
        name,
        meaning: describeSetting(settingOf(name)).meaning.replaceAll('`', ''),
      });
    }
  });

  it('shows defaults, and examples that are allowed', () => {
    for (const { name, value } of exampleRows(read(path)).filter(({ name }) => SETTING_NAMES.includes(name as never))) {
      const { default: otherwise } = describeSetting(settingOf(name));
      expect({ name, value }).toEqual({ name, value: otherwise ?? value });
      expect({
        name,
        allowed: settingsSchema.shape[settingOf(name)].safeParse(value.replace(/^'(.*)'$/, '$1')).success,
      }).toEqual({
        name,
        allowed: true,
      });
    }
  });

  it('lacks nothing once the files it names are there', () => {
    const active = exampleRows(read(path)).filter(({ active }) => active);
    const env = Object.fromEntries(active.map(({ name, value }) => [name, value]));
    expect(faultsOf(env, path.includes('sandbox')).filter((fault) => !fault.includes('does not exist'))).toEqual([]);
  });

  it.each([
    ['an altered line', 'PORT=3000', 'PORT=3001'],
    ['an altered comment', 'Where it listens', 'The place where it listens'],
    ['a line that is missing', /^#PORT=.*\n/m, ''],
    ['a line too many', /^#PORT=.*\n/m, '#PORT=3000\n#PORTS=3000\n'],
  ])('its check finds %s', (_name, from, to) => {
    expect(exampleRows(read(path).replace(from, to))).not.toEqual(exampleRows(writeExample(path, read(path))));
  });
});

it('every setting is in one of the two examples', () => {
  const shown = new Set(EXAMPLES.flatMap((path) => exampleRows(read(path)).map(({ name }) => settingOf(name))));
  expect(SETTING_NAMES.filter((name) => !shown.has(name))).toEqual([]);
});

/** The setting of a line: BANK_PASSWORD for BANK_PASSWORD_FILE, but not BANK_PFX for BANK_PFX_FILE. */
function settingOf(name: string): SettingName {
  return SETTING_NAMES.find((each) => each === name) ?? (name.replace(/_FILE$/, '') as SettingName);
}

function faultsOf(env: Record<string, string>, sandbox: boolean): string[] {
  try {
    readSettings(env, { sandbox });
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.faults.map(({ variable, problem }) => `${variable} ${problem}`);
    throw error;
  }
}
