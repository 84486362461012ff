import { STEPS, type StepName, type StepReport } from './report.js';
import { toStepFailed, type StepFailed } from './step-failed.js';

/** What a step has found; a problem without failure is a warning. */
export interface Findings {
  readonly facts: Record<string, unknown>;
  problem?: string;
  remedy?: string;
}

/** Takes the steps one after the other and notes how each went; after the first that fails all others are skipped. */
export class Walk {
  readonly #reports = new Map<StepName, StepReport>();
  readonly #onStep: (report: StepReport) => void;
  #failed = false;

  constructor(onStep: (report: StepReport) => void) {
    this.#onStep = onStep;
  }

  /** Takes a step, unless one has failed; gives what it gives, or null. `findings` keep their facts when it fails. */
  async step<T>(name: StepName, work: (findings: Findings) => Promise<T>): Promise<T | null> {
    if (this.#failed) return null;
    const findings: Findings = { facts: {} };
    const started = performance.now();
    const ms = () => Math.round(performance.now() - started);
    try {
      const result = await work(findings);
      const { facts, problem = null, remedy = null } = findings;
      this.#note({
        name,
        status: problem === null ? 'ok' : 'warning',
        ms: ms(),
        facts,
        code: null,
        owner: problem === null ? null : 'operator',
        problem,
        remedy,
      });
      return result;
    } catch (thrown) {
      const failure = toStepFailed(thrown);
      const earlier = failure.step === null ? undefined : this.#reports.get(failure.step);
      if (earlier) this.#fail(earlier.name, earlier.ms, earlier.facts, failure);
      else this.#fail(name, ms(), findings.facts, failure);
      return null;
    }
  }

  get reports(): StepReport[] {
    return STEPS.map(
      (name) =>
        this.#reports.get(name) ?? {
          name,
          status: 'skipped',
          ms: 0,
          facts: {},
          code: null,
          owner: null,
          problem: null,
          remedy: null,
        },
    );
  }

  #fail(
    name: StepName,
    ms: number,
    facts: Readonly<Record<string, unknown>>,
    { code, owner, problem, remedy }: StepFailed,
  ): void {
    this.#failed = true;
    this.#note({ name, status: 'failed', ms, facts, code, owner, problem, remedy });
  }

  #note(report: StepReport): void {
    this.#reports.set(report.name, report);
    this.#onStep(report);
  }
}
