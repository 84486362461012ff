import { GatewayError } from '../problems/gateway-error.js';
import { PROBLEMS, type Owner } from '../problems/problem-table.js';
import type { DoctorCode, StepName } from './report.js';

/** Why a step of the doctor failed: who must act, and what to do about it. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  constructor(
    readonly code: DoctorCode,
    readonly owner: Owner,
    readonly problem: string,
    readonly remedy: string,
    /** The step it belongs to, when a later one has shown it: under TLS 1.3 a refusal arrives after the handshake. */
    readonly step: StepName | null = null,
  ) {
    super(problem);
  }
}

/** An error of the gateway's rooms as the doctor tells it; others are faults of ours and pass. */
export function toStepFailed(thrown: unknown): StepFailed {
  if (thrown instanceof StepFailed) return thrown;
  if (!(thrown instanceof GatewayError)) throw thrown;
  return new StepFailed(thrown.code, thrown.owner, thrown.detail, PROBLEMS[thrown.code].remedy);
}
