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
const NAME_WIDTH = 17;
const RULE = '-'.repeat(WIDTH);

/** One step for people: result, duration, and the facts that help. */
export function printStep({ name, status, ms, problem, remedy }: StepReport, lines: readonly string[]): string {
  const said = status === 'warning' ? [problem, remedy].flatMap((text) => (text ? wrapped(text, MARGIN) : [])) : [];
  const [first = '', ...rest] = [...lines.map(toPlain), ...said];
  const head = `${MARKS[status]()} ${name.padEnd(12)}${String(ms).padStart(6)} ms   ${first}`.trimEnd();
  return `${[head, ...rest.map((line) => `${' '.repeat(MARGIN)}${line}`)].join('\n')}\n`;
}

/** The end of the report: a summary, or what is broken, who must act, and text for a ticket. */
export function printVerdict(report: DoctorReport, version: string, at: Date, offline: boolean): string {
  const failed = failedStep(report);
  if (!failed) {
    const asked = offline ? 'The local steps succeeded' : 'All steps succeeded';
    const warned = report.steps.some(({ status }) => status === 'warning');
    return `\n${styleText('green', asked)}${warned ? '. Look at the warnings (!)' : ''}.\n`;
  }
  const title = styleText('red', `accounts-gateway ${version} (${report.mode}): step "${failed.name}" failed`);
  const rows = toTicket(report, failed, at).flatMap(([name, text]) =>
    wrapped(text, NAME_WIDTH).map((line, index) => `${(index === 0 ? name : '').padEnd(NAME_WIDTH)}${line}`),
  );
  return `\n${[RULE, title, '', ...rows, RULE].join('\n')}\n`;
}

/** The part to paste into a ticket, the same for every recipient. */
function toTicket({ steps }: DoctorReport, failed: StepReport, at: Date): [string, string][] {
  const fact = (step: string, name: string) => steps.find((each) => each.name === step)?.facts[name];
  const rows: [string, unknown][] = [
    ['What is broken', failed.problem],
    ['Cause', failed.code],
    ['Who must act', failed.owner],
    ['What to do', failed.remedy],
    ['Not checked', STEPS.slice(STEPS.indexOf(failed.name) + 1).join(', ')],
    ['Time', at.toISOString()],
    ['Request id', withNote(fact('accounts', 'requestId'), 'X-Request-Id')],
    ['Token service', fact('settings', 'authUrl')],
    ['Account service', fact('settings', 'baseUrl')],
    ['Route', fact('settings', 'route')],
    ['Source address', sourceAddresses(steps)],
    ['Certificate', fact('certificate', 'subject')],
    ['Thumbprint', withNote(fact('certificate', 'thumbprint'), 'SHA-1')],
    ['Valid to', fact('certificate', 'notAfter')],
  ];
  return rows.filter((row): row is [string, string] => typeof row[1] === 'string' && row[1] !== '');
}

const withNote = (value: unknown, note: string) => (typeof value === 'string' ? `${value} (${note})` : undefined);

function sourceAddresses(steps: readonly StepReport[]): string | undefined {
  const route = steps.find(({ name }) => name === 'route')?.facts ?? {};
  const found = Object.values(route).map((host) => (host as { sourceAddress?: unknown }).sourceAddress);
  const distinct = [...new Set(found.filter((address) => typeof address === 'string'))];
  return distinct.length > 0
    ? `${distinct.join(', ')} (the local one; a NAT or proxy on the way shows another)`
    : undefined;
}

/** Keeps text from outside on its line, without control characters. */
const toPlain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');

function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  for (const word of toPlain(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH - indent)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
