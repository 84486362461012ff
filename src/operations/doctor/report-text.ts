import { PROBLEMS, toPlainText, type AnyCode } from '../../errors/problem-table.js';
import { failedStep, type DoctorReport } from './examine.js';
import type { StepReport } from './steps.js';

const MARKS = { ok: '✓', warning: '!', failed: '✗', skipped: '·' } as const;

/** One step for people. */
export function toStepText({ name, status, ms, facts, problem, remedy }: StepReport): string {
  const warning = status === 'warning' ? { warning: `${problem} ${remedy}` } : {};
  const head = `${MARKS[status]} ${name.padEnd(12)}${String(ms).padStart(6)} ms`;
  return [head, ...toTable(toRows({ ...warning, ...facts }), '    '), ''].join('\n');
}

/** The end of the report. Together with the steps above, it is the text for a ticket. */
export function toVerdictText(report: DoctorReport, version: string, at: Date, offline: boolean): string {
  const failed = failedStep(report);
  if (!failed) {
    const asked = offline ? 'The local steps succeeded' : 'All steps succeeded';
    const warned = report.steps.some(({ status }) => status === 'warning');
    return `\n${asked}${warned ? '. See the warnings marked "!"' : ''}.\n`;
  }
  const title = `accounts-gateway ${version} (${report.mode}): step "${failed.name}" failed`;
  const skipped = report.steps.flatMap(({ name, status }) => (status === 'skipped' ? name : []));
  const rows: [string, string][] = [
    ['What is broken', String(failed.problem)],
    ['Cause', String(failed.code)],
    ['Who must act', String(failed.owner)],
    ['What to do', String(failed.remedy)],
    ...furtherSteps(failed.code).map((step): [string, string] => ['', step]),
    ['Not checked', skipped.join(', ') || 'nothing'],
    ['Time', at.toISOString()],
  ];
  return ['', title, '', ...toTable(rows, ''), ''].join('\n');
}

/** What to do after the remedy, without the steps that name the doctor. */
const furtherSteps = (code: StepReport['code']): string[] =>
  (PROBLEMS[code as AnyCode]?.steps.slice(1) ?? []).filter((step) => !step.includes('#the-doctor')).map(toPlainText);

/** A row for each value, at any depth: `bank.serverChain.0.subject`. */
function toRows(facts: object, prefix = ''): [string, string][] {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  return known.flatMap(([name, value]: [string, unknown]): [string, string][] =>
    typeof value === 'object' && value !== null ? toRows(value, `${prefix}${name}.`) : [[prefix + name, String(value)]],
  );
}

/** Text of one line. Control characters become `?`, because parts of it come from outside. */
export const toPrintable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');

function toTable(rows: readonly [string, string][], indent: string): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => indent + name.padEnd(width) + toPrintable(text));
}
