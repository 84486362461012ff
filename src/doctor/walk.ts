import type { Owner } from '../problems/problem-table.js';
import { STEPS, type DoctorCode, type StepName, type StepReport } from './report.js';
import { toStepFailed } from './step-failed.js';

/** Findings of a step so far. */
export interface Findings {
  readonly facts: Record<string, unknown>;
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

/** Called when a step ends. */
export type OnStep = (report: StepReport) => void;

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
    const findings: Findings = { facts: {} };
    const started = performance.now();
    const report = (): StepReport => {
      const { facts, ms = Math.round(performance.now() - started) } = findings;
      return { name, status: 'ok', ms, facts, ...NO_PROBLEM };
    };
    try {
      const result = await work(findings);
      const { warning } = findings;
      this.#note({ ...report(), ...(warning && { status: 'warning', owner: 'operator', ...warning }) });
      return result;
    } catch (thrown) {
      const { step = name, code, owner, problem, remedy } = toStepFailed(thrown, name);
      this.#failed = true;
      this.#note({ ...(this.#reports.get(step) ?? report()), status: 'failed', code, owner, problem, remedy });
      return null;
    }
  }

  /** All steps in their order, those not taken as skipped. */
  get reports(): StepReport[] {
    return STEPS.map((name) => this.#reports.get(name) ?? { name, status: 'skipped', ms: 0, facts: {}, ...NO_PROBLEM });
  }

  #note(report: StepReport): void {
    this.#reports.set(report.name, report);
    this.#onStep(report);
  }
}
