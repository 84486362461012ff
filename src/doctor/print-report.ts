import { STEPS, type DoctorReport, type StepReport } from './report.js';

const MARKS = { ok: '✓', warning: '!', failed: '✗', skipped: '·' } as const;

/** One step for people: how it went, how long it took, and the facts that help. */
export function printStep({ name, status, ms, facts, problem, remedy }: StepReport): string {
  const lines = [`${MARKS[status]} ${name.padEnd(12)} ${String(ms).padStart(6)} ms`];
  lines.push(...printFacts(facts, '    '));
  if (status === 'warning') lines.push(`    ! ${problem ?? ''}`, ...(remedy ? [`      ${remedy}`] : []));
  return `${lines.join('\n')}\n`;
}

function printFacts(facts: Readonly<Record<string, unknown>>, indent: string): string[] {
  return Object.entries(facts).flatMap(([name, value]) => {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'object')) {
      return [
        `${indent}${name}:`,
        ...value.flatMap((item, index) => printFacts({ [`${index + 1}`]: item as object }, `${indent}  `)),
      ];
    }
    if (typeof value === 'object' && !Array.isArray(value)) {
      return [`${indent}${name}:`, ...printFacts(value as Record<string, unknown>, `${indent}  `)];
    }
    return [`${indent}${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`];
  });
}

/** The end of the report: all well, or what is broken, who must act, what to ask them, and text for a ticket. */
export function printVerdict(report: DoctorReport, version: string, at: Date, offline: boolean): string {
  const failed = report.steps.find(({ status }) => status === 'failed');
  if (!failed) {
    const asked = offline ? 'The local steps are' : 'Everything up to the account list is';
    return `\n${asked} in order${report.steps.some(({ status }) => status === 'warning') ? '; look at the warnings (!)' : ''}.\n`;
  }
  const skipped = STEPS.slice(STEPS.indexOf(failed.name) + 1);
  return [
    '',
    `What is broken   ${failed.problem}`,
    `Cause code       ${failed.code}`,
    `Who must act     ${failed.owner}`,
    `What to do       ${failed.remedy}`,
    ...(skipped.length > 0 ? [`Not looked at    ${skipped.join(', ')}`] : []),
    '',
    'For a ticket:',
    ...toTicket(report, failed, version, at).map((line) => `  ${line}`),
    '',
  ].join('\n');
}

function toTicket({ steps, mode }: DoctorReport, failed: StepReport, version: string, at: Date): string[] {
  const fact = (step: string, name: string) => steps.find((each) => each.name === step)?.facts[name];
  const known: [string, unknown][] = [
    ['Account service', fact('settings', 'baseUrl')],
    ['Token service', fact('settings', 'authUrl')],
    ['Route', fact('settings', 'route')],
    ['Client certificate', fact('certificate', 'subject')],
    ['SHA-1 thumbprint', fact('certificate', 'thumbprint')],
    ['Valid to', fact('certificate', 'notAfter')],
  ];
  return [
    `accounts-gateway ${version} (${mode}) can not reach the bank's accounts: step "${failed.name}" failed with ${failed.code} at ${at.toISOString()}.`,
    String(failed.problem),
    ...known.flatMap(([name, value]) => (typeof value === 'string' ? [`${name}: ${value}`] : [])),
    ...sourceAddresses(steps),
  ];
}

function sourceAddresses(steps: readonly StepReport[]): string[] {
  const route = steps.find(({ name }) => name === 'route')?.facts ?? {};
  const found = Object.values(route).flatMap((host) => {
    const address = (host as { sourceAddress?: unknown }).sourceAddress;
    return typeof address === 'string' ? [address] : [];
  });
  return [...new Set(found)].map((address) => `Source address: ${address}`);
}
