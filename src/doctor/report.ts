import type { AnyCode, Owner } from '../problems/problem-table.js';

/** The steps in their order, which also gives the exit codes (docs/troubleshooting.md#steps-and-exit-codes). */
export const STEPS = [
  'settings',
  'certificate',
  'dns',
  'route',
  'tls',
  'token',
  'accounts',
  'shape',
  'sharing',
] as const;

export type StepName = (typeof STEPS)[number];

/** A code of docs/errors.md, or one that only the doctor has. */
export type DoctorCode = AnyCode | 'config-invalid' | 'pfx-unreadable' | 'dns-failed';

type Facts = Readonly<Record<string, unknown>>;

/** The result of one step; `code`, `owner`, `problem` and `remedy` are null where nothing is wrong. */
export interface StepReport {
  readonly name: StepName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly ms: number;
  readonly facts: Facts;
  readonly code: DoctorCode | null;
  readonly owner: Owner | null;
  readonly problem: string | null;
  readonly remedy: string | null;
}

/** Output of `--json` (docs/troubleshooting.md). */
export interface DoctorReport {
  readonly ok: boolean;
  readonly mode: 'live' | 'sandbox';
  readonly steps: readonly StepReport[];
}

/** The step at which the doctor stopped; null when none failed. */
export function failedStep({ steps }: DoctorReport): StepReport | null {
  return steps.find(({ status }) => status === 'failed') ?? null;
}

/** 0 without a failure, 1 for an internal error, else that of the failed step: 2 for settings … 10 for sharing. */
export function toExitCode(report: DoctorReport): number {
  const failed = failedStep(report);
  if (!failed) return 0;
  return failed.code === 'internal-error' ? 1 : STEPS.indexOf(failed.name) + 2;
}
