import type { Owner } from '../problems/problem-table.js';
import { STEPS, type DoctorCode, type StepName, type StepReport } from './report.js';
import { toStepFailed } from './step-failed.js';

/** Findings of a step so far; a problem without failure is a warning. */
export interface Findings {
  /** For machines. */
  readonly facts: Record<string, unknown>;
  /** The same for people, a line each. */
  readonly lines: string[];
  problem?: string;
  remedy?: string;
  /** Of a warning that /health reports too. */
  code?: DoctorCode;
  /** Owner of the problem; the operator when missing. */
  owner?: Owner;
  /** Where it is not the time that the step took. */
  ms?: number;
}

/** Called with each step as it ends, and its lines for people. */
export type OnStep = (report: StepReport, lines: readonly string[]) => void;

interface Taken {
  readonly report: StepReport;
  readonly lines: readonly string[];
}

/** Takes the steps one after the other and notes how each went; after the first that fails all others are skipped. */
export class Walk {
  readonly #taken = new Map<StepName, Taken>();
  readonly #onStep: OnStep;
  #failed = false;

  constructor(onStep: OnStep) {
    this.#onStep = onStep;
  }

  /** Takes a step, unless one has failed; gives what it gives, or null. What it found is kept when it fails. */
  async step<T>(name: StepName, work: (findings: Findings) => Promise<T>): Promise<T | null> {
    if (this.#failed) return null;
    const findings: Findings = { facts: {}, lines: [] };
    const started = performance.now();
    const ms = () => findings.ms ?? Math.round(performance.now() - started);
    const { facts, lines } = findings;
    try {
      const result = await work(findings);
      const { code = null, problem = null, remedy = null } = findings;
      const status = problem === null ? 'ok' : 'warning';
      const owner = problem === null ? null : (findings.owner ?? 'operator');
      this.#note({ name, status, ms: ms(), facts, code, owner, problem, remedy }, lines);
      return result;
    } catch (thrown) {
      const { step, code, owner, problem, remedy } = toStepFailed(thrown, name);
      this.#failed = true;
      const failed = { status: 'failed', code, owner, problem, remedy } as const;
      const earlier = step === null ? undefined : this.#taken.get(step);
      if (earlier) {
        const { report } = earlier;
        this.#note({ ...report, ...failed, facts: { ...report.facts, seenDuring: name } }, [
          `found out by the step "${name}"`,
        ]);
      } else this.#note({ name, ms: ms(), facts, ...failed }, lines);
      return null;
    }
  }

  /** All steps in their order, those not taken as skipped. */
  get reports(): StepReport[] {
    const nothing = { ms: 0, facts: {}, code: null, owner: null, problem: null, remedy: null };
    return STEPS.map((name) => this.#taken.get(name)?.report ?? { name, status: 'skipped', ...nothing });
  }

  #note(report: StepReport, lines: readonly string[]): void {
    this.#taken.set(report.name, { report, lines });
    this.#onStep(report, lines);
  }
}
