import type { Owner } from '../problems/problem-table.js';
import { STEPS, type DoctorCode, type StepName, type StepReport } from './report.js';
import { toStepFailed } from './step-failed.js';

/** Findings of a step so far. */
export interface Findings {
  /** For machines. */
  readonly facts: Record<string, unknown>;
  /** The same for people, a line each. */
  readonly lines: string[];
  /** A problem without a failure. */
  warning?: {
    readonly problem: string;
    readonly remedy: string;
    /** The operator when missing. */
    readonly owner?: Owner;
    /** The code of a problem that /health reports too. */
    readonly code?: DoctorCode;
  };
  /** Set when it differs from the time that the step took. */
  ms?: number;
}

/** Called when a step ends, with its report and its lines for people. */
export type OnStep = (report: StepReport, lines: readonly string[]) => void;

const NO_PROBLEM = { code: null, owner: null, problem: null, remedy: null };

/** Takes the steps one after the other and notes how each went; after the first that fails all others are skipped. */
export class Walk {
  readonly #reports = new Map<StepName, StepReport>();
  readonly #onStep: OnStep;
  #failed = false;

  constructor(onStep: OnStep) {
    this.#onStep = onStep;
  }

  /** Takes a step, unless one has failed. Returns its result, or null. Its findings are kept when it fails. */
  async step<T>(name: StepName, work: (findings: Findings) => Promise<T>): Promise<T | null> {
    if (this.#failed) return null;
    const findings: Findings = { facts: {}, lines: [] };
    const { facts, lines } = findings;
    const started = performance.now();
    const ms = () => findings.ms ?? Math.round(performance.now() - started);
    try {
      const result = await work(findings);
      const { warning } = findings;
      if (!warning) this.#note({ name, status: 'ok', ms: ms(), facts, ...NO_PROBLEM }, lines);
      else this.#note({ name, status: 'warning', ms: ms(), facts, code: null, owner: 'operator', ...warning }, lines);
      return result;
    } catch (thrown) {
      const { step, code, owner, problem, remedy } = toStepFailed(thrown, name);
      this.#failed = true;
      const failed = { status: 'failed', code, owner, problem, remedy } as const;
      const earlier = step && this.#reports.get(step);
      if (earlier) {
        const found = { ...earlier, ...failed, facts: { ...earlier.facts, seenDuring: name } };
        this.#note(found, [`detected in the step "${name}"`]);
      } else this.#note({ name, ms: ms(), facts, ...failed }, lines);
      return null;
    }
  }

  /** All steps in their order, those not taken as skipped. */
  get reports(): StepReport[] {
    return STEPS.map((name) => this.#reports.get(name) ?? { name, status: 'skipped', ms: 0, facts: {}, ...NO_PROBLEM });
  }

  #note(report: StepReport, lines: readonly string[]): void {
    this.#reports.set(report.name, report);
    this.#onStep(report, lines);
  }
}
