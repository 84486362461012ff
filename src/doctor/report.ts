import type { Owner, ProblemCode } from '../problems/problem-table.js';

/** The steps, in the order in which they are taken; the exit code of a failed one is its place in contract §9. */
export const STEPS = ['settings', 'certificate', 'dns', 'route', 'tls', 'token', 'accounts', 'shape'] as const;

export type StepName = (typeof STEPS)[number];

export type DoctorCode = ProblemCode | 'config-invalid' | 'pfx-unreadable' | 'dns-failed';

export interface StepReport {
  readonly name: StepName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** How long it took. */
  readonly ms: number;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly code: DoctorCode | null;
  readonly owner: Owner | null;
  readonly problem: string | null;
  readonly remedy: string | null;
}

export interface DoctorReport {
  readonly ok: boolean;
  readonly mode: 'live' | 'sandbox';
  readonly steps: readonly StepReport[];
}

/** 0 when all is well, else the exit code of the step that failed: 2 for settings … 9 for shape. */
export function toExitCode(report: DoctorReport): number {
  const failed = report.steps.find(({ status }) => status === 'failed');
  return failed ? STEPS.indexOf(failed.name) + 2 : 0;
}
