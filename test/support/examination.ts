import { expect } from '@jest/globals';
import { SystemClock, type Clock } from '../../src/time/clock.js';
import { examine } from '../../src/doctor/examine.js';
import { printStep, printVerdict } from '../../src/doctor/print-report.js';
import {
  failedStep,
  STEPS,
  toExitCode,
  type DoctorReport,
  type StepName,
  type StepReport,
} from '../../src/doctor/report.js';
import { readSettings } from '../../src/config/read-settings.js';

export interface Examination {
  readonly report: DoctorReport;
  readonly exitCode: number;
  /** What people are shown. */
  readonly text: string;
  /** All that is ever shown, to people and to machines. */
  readonly everything: string;
  readonly ms: number;
  step(name: StepName): StepReport;
}

/** Without REDIS_URL. */
const PATH_STEPS = STEPS.filter((name) => name !== 'sharing');

/** Quick enough for a test. */
const ENV = { BANK_CONNECT_TIMEOUT_MS: '600', BANK_REQUEST_TIMEOUT_MS: '700' };

/** The doctor on these settings, in this process. */
export async function examineWith(
  env: Readonly<Record<string, string>>,
  { offline = false, clock = new SystemClock() }: { offline?: boolean; clock?: Clock } = {},
): Promise<Examination> {
  const printed: string[] = [];
  const started = performance.now();
  const report = await examine({
    mode: 'live',
    offline,
    clock,
    settings: async () => readSettings({ ...ENV, ...env }, { sandbox: false }),
    onStep: (step, lines) => void printed.push(printStep(step, lines)),
  });
  const ms = performance.now() - started;
  printed.push(printVerdict(report, '1.2.3', new Date(), offline));
  const text = printed.join('');
  return {
    report,
    exitCode: toExitCode(report),
    text,
    everything: text + JSON.stringify(report),
    ms,
    step: (name) => report.steps[STEPS.indexOf(name)] as StepReport,
  };
}

export interface Expected {
  readonly step: StepName;
  readonly code: string;
  readonly owner: string;
  /** The exit code, as docs/troubleshooting.md#steps-and-exit-codes has it: not computed here. */
  readonly exit: number;
  readonly problem: RegExp;
  /** What is specific in what to do. */
  readonly remedy: RegExp;
}

/** The report is as docs/troubleshooting.md has it, names this hop and says what to do, to people as to machines. */
export function expectFailed({ report, exitCode, text }: Examination, expected: Expected): void {
  const failed = failedStep(report);
  expect({ step: failed?.name, code: failed?.code, owner: failed?.owner, exit: exitCode }).toEqual({
    step: expected.step,
    code: expected.code,
    owner: expected.owner,
    exit: expected.exit,
  });
  expect(failed?.problem).toMatch(expected.problem);
  expect(failed?.remedy).toMatch(expected.remedy);
  expectWellFormed(report);
  expect(report.ok).toBe(false);
  const at = STEPS.indexOf(expected.step);
  expect(report.steps.map(({ status }) => status === 'skipped')).toEqual(PATH_STEPS.map((_, index) => index > at));
  expect(text).toContain(`✗ ${expected.step}`);
  const flat = text.replace(/\s+/g, ' ');
  expect(flat).toContain(`step "${expected.step}" failed What is broken ${failed?.problem}`);
  expect(flat).toContain(`Cause ${expected.code} Who must act ${expected.owner} What to do ${failed?.remedy}`);
}

export function expectWellFormed(report: DoctorReport): void {
  expect(Object.keys(report)).toEqual(['ok', 'mode', 'steps']);
  expect(report.steps.map(({ name }) => name)).toEqual(PATH_STEPS);
  for (const step of report.steps) {
    expect(Object.keys(step).sort()).toEqual('code facts ms name owner problem remedy status'.split(' '));
    expect(step.ms).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(step.ms)).toBe(true);
    const told = step.status === 'failed' || step.status === 'warning';
    expect([step.problem, step.remedy, step.owner].map((value) => value !== null)).toEqual([told, told, told]);
    // a warning has one where /health has it too
    if (step.status !== 'warning') expect(step.code !== null).toBe(told);
    // what people paste must stand on lines of their own making
    expect(JSON.stringify(step)).not.toMatch(/undefined|\[object|NaN/);
  }
}
