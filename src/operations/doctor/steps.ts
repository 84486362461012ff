import { GatewayError } from '../../errors/gateway-error.js';
import { remedyOf, withOwner, type AnyCode, type Owner } from '../../errors/problem-table.js';

/** The steps of the doctor. Their order determines the exit codes (docs/troubleshooting.md#steps-and-exit-codes). */
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

/** A code from docs/errors.md, or one that only the doctor uses. */
type DoctorCode = AnyCode | 'config-invalid' | 'pfx-unreadable' | 'dns-failed';

/** `problem`, `owner` and `remedy` are null unless the step warns or failed; `code` may be null in a warning too. */
export interface StepReport {
  readonly name: StepName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly ms: number;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly code: DoctorCode | null;
  readonly owner: Owner | null;
  readonly problem: string | null;
  readonly remedy: string | null;
}

type StepProblem = { readonly [Name in 'code' | 'owner' | 'problem' | 'remedy']: NonNullable<StepReport[Name]> };

/** Findings of a step so far. The facts are reported even if it fails. */
export interface Findings {
  readonly facts: Record<string, unknown>;
  /** A problem that does not fail the step. Its owner is the operator by default. */
  warning?: Pick<StepProblem, 'problem' | 'remedy'> & Partial<StepProblem>;
}

export const problemOf = (code: AnyCode, problem: string): StepProblem => ({
  ...withOwner(code),
  problem,
  remedy: remedyOf(code),
});

/** Thrown if a step fails for a reason other than a GatewayError. */
export class StepFailed extends Error {
  constructor(readonly found: StepProblem) {
    super(found.problem);
  }
}

/** Steps whose failure may show up later: under TLS 1.3, a rejection of our certificate arrives after the handshake. */
const STEP_OF: Readonly<Partial<Record<DoctorCode, StepName>>> = {
  'proxy-refused': 'route',
  'proxy-unavailable': 'route',
  'certificate-rejected': 'tls',
};

const NO_PROBLEM = { code: null, owner: null, problem: null, remedy: null };

export class Steps {
  readonly #reports = new Map<StepName, StepReport>();

  constructor(private readonly onStep: (report: StepReport) => void) {}

  /** All steps in their order. Steps that did not run are marked as skipped. */
  get reports(): StepReport[] {
    return STEPS.map((name) => this.#reports.get(name) ?? { name, status: 'skipped', ms: 0, facts: {}, ...NO_PROBLEM });
  }

  async run<T>(name: StepName, work: (findings: Findings) => Promise<T>): Promise<T> {
    const findings: Findings = { facts: {} };
    const started = performance.now();
    const toReport = (status: StepReport['status']): StepReport => {
      const ms = Math.round(performance.now() - started);
      return { name, status, ms, facts: findings.facts, ...NO_PROBLEM };
    };
    try {
      const result = await work(findings);
      const { warning } = findings;
      this.#note(warning ? { ...toReport('warning'), owner: 'operator', ...warning } : toReport('ok'));
      return result;
    } catch (thrown) {
      const problem = toProblem(thrown);
      const earlier = this.#reports.get(STEP_OF[problem.code] ?? name);
      const report = earlier ?? toReport('failed');
      const facts = { ...report.facts, ...(thrown instanceof GatewayError && thrown.bankReference) };
      this.#note({ ...report, status: 'failed', facts, ...problem });
      throw thrown;
    }
  }

  #note(report: StepReport): void {
    this.#reports.set(report.name, report);
    this.onStep(report);
  }
}

/** An unexpected error is reported without its message, which may quote data. */
function toProblem(thrown: unknown): StepProblem {
  if (thrown instanceof StepFailed) return thrown.found;
  if (thrown instanceof GatewayError && thrown.code !== 'internal-error') {
    return { ...problemOf(thrown.code, thrown.detail), owner: thrown.owner };
  }
  const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
  const error = cause instanceof Error ? cause : new Error();
  const place = error.stack?.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return {
    code: 'internal-error',
    owner: 'operator',
    problem: `An internal error of the gateway: ${error.name}${place.replace(/\s+/, ' ')}.`,
    remedy: 'Report this text and the version to the maintainers of the gateway.',
  };
}
