import { styleText } from 'node:util';
import { failedStep, STEPS, type DoctorReport, type StepReport } from './report.js';

/** Coloured only on a terminal, and not with NO_COLOR. */
const MARKS = {
  ok: () => styleText('green', '✓'),
  warning: () => styleText('yellow', '!'),
  failed: () => styleText('red', '✗'),
  skipped: () => styleText('dim', '·'),
} as const;
const WIDTH = 110;
/** Width of mark, name and time. */
const MARGIN = 26;
const RULE = '-'.repeat(WIDTH);

/** One step for people: result, duration, the warning if there is one, and the facts. */
export function printStep({ name, status, ms, facts, problem, remedy }: StepReport): string {
  const warning = status === 'warning' ? wrapped(`${problem} ${remedy}`, MARGIN) : [];
  const lines = [...warning, ...toTable(toRows(facts), MARGIN)].map((line) => ' '.repeat(MARGIN) + line);
  const head = `${MARKS[status]()} ${name.padEnd(12)}${String(ms).padStart(6)} ms`;
  const [first = '', ...rest] = lines;
  return `${[`${head}   ${first.slice(MARGIN)}`.trimEnd(), ...rest].join('\n')}\n`;
}

/** The end of the report: a summary, or what is broken and who must act. With the steps above it is the text for a ticket. */
export function printVerdict(report: DoctorReport, version: string, at: Date, offline: boolean): string {
  const failed = failedStep(report);
  if (!failed) {
    const asked = offline ? 'The local steps succeeded' : 'All steps succeeded';
    const warned = report.steps.some(({ status }) => status === 'warning');
    return `\n${styleText('green', asked)}${warned ? '. Look at the warnings (!)' : ''}.\n`;
  }
  const title = styleText('red', `accounts-gateway ${version} (${report.mode}): step "${failed.name}" failed`);
  const rows: [string, string][] = [
    ['What is broken', String(failed.problem)],
    ['Cause', String(failed.code)],
    ['Who must act', String(failed.owner)],
    ['What to do', String(failed.remedy)],
    ['Not checked', STEPS.slice(STEPS.indexOf(failed.name) + 1).join(', ')],
    ['Time', at.toISOString()],
  ];
  return `\n${[RULE, title, '', ...toTable(rows, 0), RULE].join('\n')}\n`;
}

/** A row for each value, however deep: `bank.serverChain.0.subject`. */
function toRows(facts: object, prefix = ''): [string, string][] {
  return Object.entries(facts).flatMap(([name, value]: [string, unknown]) => {
    if (Array.isArray(value) && typeof value[0] === 'string') return [[prefix + name, value.join(', ')]];
    if (typeof value === 'object' && value !== null) return toRows(value, `${prefix}${name}.`);
    return value === '' ? [] : [[prefix + name, String(value)] as [string, string]];
  });
}

function toTable(rows: readonly [string, string][], indent: number): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) =>
    wrapped(text, indent + width).map((line, index) => (index === 0 ? name : '').padEnd(width) + line),
  );
}

/** The lines of a text. Control characters become `?`, because parts of it come from outside. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  for (const word of text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH - indent)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
