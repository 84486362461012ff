import { secretFile } from '../../src/config/settings-error.js';
import { describeSetting, GROUPS, type SettingName } from '../../src/config/settings-schema.js';
import { read } from '../support/documents.js';

const PAGE = 'docs/settings.md';
type Group = keyof typeof GROUPS;
const ALL = Object.keys(GROUPS) as Group[];
const EXAMPLES: Readonly<Record<string, readonly Group[]>> = {
  'config/bank.env.example': ALL.filter((group) => group !== 'The sandbox bank'),
  'config/sandbox.env.example': ['The sandbox bank', 'Freshness', 'The internal API', 'The process'],
};

/** Settings that an operator must fill in for a bank; secrets through files. */
const FILL_IN = new Set<string>([
  'BANK_BASE_URL',
  'BANK_USERNAME',
  'BANK_PASSWORD',
  'BANK_PFX_FILE',
  'BANK_PFX_PASSCODE',
]);

const namesOf = (group: Group) => Object.keys(GROUPS[group]) as SettingName[];

/** The lists of docs/settings.md and the settings of config/*.env.example, from src/config/settings-schema.ts: files by path. */
export function settingsDocuments(): ReadonlyMap<string, string> {
  const examples = Object.entries(EXAMPLES).map(([path, groups]) => [path, toExample(read(path), groups)] as const);
  return new Map([[PAGE, toPage(read(PAGE))], ...examples]);
}

/** The page with new lists between its two comments. The allowed values are in the examples and in each error. */
function toPage(page: string): string {
  const lists = ALL.map((group) => {
    const lines = namesOf(group).map((name) => {
      const { secret, default: text, required, unset, meaning } = describeSetting(name);
      const names = secret ? `\`${name}\`, \`_FILE\`` : `\`${name}\``;
      const without = text === undefined ? (unset ?? (required ? 'required' : '')) : `\`${text}\``;
      return `- ${names}${without && ` (${without})`}: ${meaning}\n`;
    });
    return `### ${group}\n\n${lines.join('')}`;
  });
  return page.replace(/(?<=<!-- settings -->\n)[\s\S]*(?=<!-- \/settings -->)/, () => `\n${lists.join('\n')}\n`);
}

/** An example `.env`: its first comment, then every setting in these groups with its comment. */
function toExample(text: string, groups: readonly Group[]): string {
  const [head = ''] = text.split('\n\n');
  const parts = groups.flatMap((group) => [
    `# --- ${group} `.padEnd(100, '-'),
    ...namesOf(group).map((name) => [...toComment(name), ...toLines(name)].join('\n')),
  ]);
  return `${[head.trimEnd(), ...parts].join('\n\n')}\n`;
}

function toComment(name: SettingName): string[] {
  const { meaning, required, unset, default: text, allowed } = describeSetting(name);
  const without = required ? ' Required.' : text === undefined ? ` ${toSentence(unset)}` : '';
  return [`# ${meaning}`, `# Allowed: ${allowed}.${without}`].map((line) => line.replaceAll('`', ''));
}

/** The effect of omitting a setting; the lists show it in brackets. */
function toSentence(unset: string | undefined): string {
  if (unset === undefined) return 'Optional.';
  if (unset.startsWith('required')) return `R${unset.slice(1)}.`;
  return `If not set, ${unset.replace(/^none: /, '')}.`;
}

/** A secret has two lines; fill in the one with the file. */
function toLines(name: SettingName): string[] {
  const { secret, example, default: text = example } = describeSetting(name);
  const mark = FILL_IN.has(name) ? '' : '#';
  return secret ? [`#${name}=${example}`, `${mark}${name}_FILE=${secretFile(name)}`] : [`${mark}${name}=${text}`];
}
