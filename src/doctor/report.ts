import type { Owner, ProblemCode } from '../problems/problem-table.js';

/** The steps, in the order in which they are taken; the exit code of a failed one follows from its place (docs/troubleshooting.md#steps-and-exit-codes). */
export const STEPS = ['settings', 'certificate', 'dns', 'route', 'tls', 'token', 'accounts', 'shape'] as const;

export type StepName = (typeof STEPS)[number];

/** What a step fails with: a code of docs/errors.md, or one of those that only the doctor has. */
export type DoctorCode = ProblemCode | 'config-invalid' | 'pfx-unreadable' | 'dns-failed';

type Facts = Readonly<Record<string, unknown>>;

/** How one step went; `code`, `owner`, `problem` and `remedy` are null where nothing is wrong. */
export interface StepReport {
  readonly name: StepName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** How long it took. */
  readonly ms: number;
  readonly facts: Facts;
  readonly code: DoctorCode | null;
  readonly owner: Owner | null;
  readonly problem: string | null;
  readonly remedy: string | null;
}

/** What `--json` prints (docs/troubleshooting.md). */
export interface DoctorReport {
  readonly ok: boolean;
  readonly mode: 'live' | 'sandbox';
  readonly steps: readonly StepReport[];
}

/** The step at which the doctor stopped, null when all went well. */
export function failedStep({ steps }: DoctorReport): StepReport | null {
  return steps.find(({ status }) => status === 'failed') ?? null;
}

/** 0 when all is well, 1 for a fault of the doctor itself, else by the step that failed: 2 for settings … 9 for shape. */
export function toExitCode(report: DoctorReport): number {
  const failed = failedStep(report);
  if (!failed) return 0;
  return failed.code === 'internal-error' ? 1 : STEPS.indexOf(failed.name) + 2;
}
