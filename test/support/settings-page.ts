import { fileExample } from '../../src/config/fault.js';
import { describeSetting, GROUPS, SETTING_NAMES, type SettingName } from '../../src/config/settings-schema.js';

type Group = keyof typeof GROUPS;
const namesOf = (group: Group) => SETTING_NAMES.filter((name) => describeSetting(name).group === group);

const BETWEEN = /(?<=<!-- settings -->\n)[\s\S]*(?=<!-- \/settings -->)/;

/** The page with its tables made again. */
export function writePage(page: string): string {
  const tables = (Object.keys(GROUPS) as Group[]).map((group) => {
    const rows = namesOf(group).map((name) => {
      const { secret, default: otherwise, unset, allowed, meaning } = describeSetting(name);
      return [
        secret ? `\`${name}\`, \`_FILE\`` : `\`${name}\``,
        otherwise === undefined ? (unset ?? '') : `\`${otherwise}\``,
        allowed,
        meaning,
      ];
    });
    return `### ${GROUPS[group]}\n\n${toTable([['variable', 'default', 'allowed', 'meaning'], ...rows])}`;
  });
  return page.replace(BETWEEN, () => `\n${tables.join('\n')}\n`);
}

/** As prettier lays it out. */
function toTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  const [header = [], ...rest] = rows;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('');
}

export interface Row {
  readonly name: string;
  readonly default: string;
  readonly allowed: string;
  readonly meaning: string;
}

/** The rows of the tables of a page; nothing that its text says. */
export function pageRows(page: string): Row[] {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
  return rows
    .filter(([first = '']) => first !== 'variable' && !first.startsWith('---'))
    .map(([name = '', otherwise = '', allowed = '', meaning = '']) => ({
      name: name.replaceAll('`', ''),
      default: /^`[^`]+`$/.test(otherwise) ? otherwise.slice(1, -1) : otherwise,
      allowed,
      meaning,
    }));
}

const GROUPS_OF: Readonly<Record<string, readonly Group[]>> = {
  'config/bank.env.example': ['bank', 'calls', 'egress', 'freshness', 'sharing', 'http', 'process'],
  'config/sandbox.env.example': ['sandbox', 'freshness', 'http', 'process'],
};
export const EXAMPLES = Object.keys(GROUPS_OF);

/** An example of `.env` with everything under its first comment made again. */
export function writeExample(path: string, text: string): string {
  const [head = ''] = text.split('\n\n');
  const parts = (GROUPS_OF[path] ?? []).map((group) => {
    const title = `# --- ${GROUPS[group]} `.padEnd(120, '-');
    return [title, ...namesOf(group).map((name) => [...comment(name), ...lines(name)].join('\n'))].join('\n\n');
  });
  return `${[head.trimEnd(), ...parts].join('\n\n')}\n`;
}

function comment(name: SettingName): string[] {
  const { meaning, unset, allowed } = describeSetting(name);
  const rule = `Allowed: ${allowed}.`;
  const without = unset === undefined || unset === 'required' ? unset : `When not set: ${unset}`;
  return [
    `# ${meaning}`,
    `# ${rule}${without === undefined ? '' : ` ${without[0]?.toUpperCase()}${without.slice(1)}.`}`,
  ].map((line) => line.replaceAll('`', ''));
}

/** A secret has two lines, of which the one with the file is to be filled in. */
function lines(name: SettingName): string[] {
  const { secret, fillIn, example, default: otherwise = example } = describeSetting(name);
  const mark = fillIn ? '' : '#';
  return secret ? [`#${name}=${example}`, `${mark}${fileExample(name)}`] : [`${mark}${name}=${otherwise}`];
}

interface ExampleRow {
  readonly active: boolean;
  readonly name: string;
  readonly value: string;
  /** The first line of the comment above it. */
  readonly meaning: string;
  readonly allowed: string;
}

/** The settings of an example, each with its comment. */
export function exampleRows(text: string): ExampleRow[] {
  return text.split('\n\n').flatMap((block) => {
    const [meaning = '', allowed = '', ...rest] = block.split('\n').map((line) => line.trim());
    const settings = [meaning, allowed, ...rest].flatMap((line) => {
      const [, mark, name = '', value = ''] = /^(#?)([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
      return mark === undefined ? [] : [{ active: mark === '', name, value }];
    });
    return settings.map((setting) => ({ ...setting, meaning: meaning.slice(2), allowed: allowed.slice(2) }));
  });
}
