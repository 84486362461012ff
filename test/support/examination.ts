import { expect } from '@jest/globals';
import { Clock } from '../../src/time/clock.js';
import { examine, failedStep, toExitCode, type DoctorReport } from '../../src/operations/doctor/examine.js';
import { toStepText, toVerdictText } from '../../src/operations/doctor/report-text.js';
import { STEPS, type StepName, type StepReport } from '../../src/operations/doctor/steps.js';
import { readSettings } from '../../src/config/read-settings.js';

export interface Examination {
  readonly report: DoctorReport;
  readonly exitCode: number;
  /** The report for people. */
  readonly text: string;
  /** Both reports, for people and for machines. */
  readonly everything: string;
  step(name: StepName): StepReport;
}

/** The steps if there is no REDIS_URL. */
const PATH_STEPS = STEPS.filter((name) => name !== 'sharing');

/** Deadlines that no successful step reaches. */
const PATIENT = { BANK_CONNECT_TIMEOUT_MS: '20000', BANK_REQUEST_TIMEOUT_MS: '20000' };

/** Runs the doctor with these settings, in this process. */
export async function examineWith(
  env: Readonly<Record<string, string>>,
  {
    offline = false,
    clock = new Clock(),
    recorder,
  }: Partial<Pick<Parameters<typeof examine>[0], 'offline' | 'clock' | 'recorder'>> = {},
): Promise<Examination> {
  const printed: string[] = [];
  const report = await examine({
    mode: 'live',
    offline,
    clock,
    recorder,
    settings: async () => readSettings({ ...PATIENT, ...env }, { sandbox: false }),
    onStep: (step) => void printed.push(toStepText(step)),
  });
  printed.push(toVerdictText(report, '1.2.3', new Date(), offline));
  const text = printed.join('');
  return {
    report,
    exitCode: toExitCode(report),
    text,
    everything: text + JSON.stringify(report),
    step: (name) => report.steps[STEPS.indexOf(name)] as StepReport,
  };
}

/** The exit codes of docs/troubleshooting.md#steps-and-exit-codes. */
const EXIT = { settings: 2, certificate: 3, dns: 4, route: 5, tls: 6, token: 7, accounts: 8, shape: 9, sharing: 10 };

/** The failed step, its code and its owner. */
export type Verdict = `${StepName}: ${string}, ${'operator' | 'network' | 'bank'}`;

/** Asserts both reports, and the exit code. */
export function expectFailed({ report, exitCode, text }: Examination, verdict: Verdict, problem: RegExp): void {
  const failed = failedStep(report);
  expect(`${failed?.name}: ${failed?.code}, ${failed?.owner}`).toBe(verdict);
  const step = verdict.split(':')[0] as StepName;
  expect(exitCode).toBe(EXIT[step]);
  expect(failed?.problem).toMatch(problem);
  expectWellFormed(report);
  expect(report.ok).toBe(false);
  const at = STEPS.indexOf(step);
  expect(report.steps.map(({ status }) => status === 'skipped')).toEqual(PATH_STEPS.map((_, index) => index > at));
  expect(text).toContain(`✗ ${step}`);
  const flat = text.replace(/\s+/g, ' ');
  expect(flat).toContain(`step "${step}" failed What is broken ${failed?.problem}`);
  expect(flat).toContain(`Cause ${failed?.code} Who must act ${failed?.owner} What to do ${failed?.remedy}`);
}

export function expectWellFormed(report: DoctorReport): void {
  expect(Object.keys(report)).toEqual(['ok', 'mode', 'steps']);
  expect(report.steps.map(({ name }) => name)).toEqual(PATH_STEPS);
  for (const step of report.steps) {
    expect(Object.keys(step).sort()).toEqual('code facts ms name owner problem remedy status'.split(' '));
    expect(step.ms).toBeGreaterThanOrEqual(0);
    expect(Number.isInteger(step.ms)).toBe(true);
    const failing = step.status === 'failed' || step.status === 'warning';
    expect([step.problem, step.remedy, step.owner].map((value) => value !== null)).toEqual([failing, failing, failing]);
    // a warning has a code if /health has one too
    if (step.status !== 'warning') expect(step.code !== null).toBe(failing);
    expect(JSON.stringify(step)).not.toMatch(/undefined|\[object|NaN/);
  }
}
