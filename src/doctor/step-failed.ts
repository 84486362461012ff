import { GatewayError } from '../problems/gateway-error.js';
import type { Owner } from '../problems/problem-table.js';
import { joinHosts, type BankHost } from './hosts.js';
import { remedyFor } from './remedies.js';
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

/** The failure of `step` as the doctor reports it. An unexpected error is reported without its message. */
export function toStepFailed(thrown: unknown, step: StepName): StepFailed {
  if (thrown instanceof StepFailed) return thrown;
  if (thrown instanceof GatewayError && thrown.code !== 'internal-error') {
    return new StepFailed(thrown.code, thrown.owner, capital(thrown.detail), remedyFor(step, thrown.code));
  }
  const fault = thrown instanceof GatewayError ? thrown.cause : thrown;
  return new StepFailed(
    'internal-error',
    'operator',
    `An internal error of the gateway: ${placeOf(fault)}.`,
    'Report this text and the version to the maintainers of the gateway.',
  );
}

/** Fails with the first failure, if there is one. Two hosts are reported together, with one remedy if they differ by name alone. */
export function failTogether<T extends { readonly host: BankHost }>(
  attempts: readonly T[],
  toFailure: (attempt: T) => StepFailed | null,
): void {
  const found = attempts.flatMap((attempt) => {
    const failure = toFailure(attempt);
    return failure ? [{ attempt, failure }] : [];
  });
  const [first, second] = found;
  if (!first) return;
  if (!second) throw first.failure;
  const { code, owner, remedy } = first.failure;
  const sameHost = toFailure({ ...second.attempt, host: first.attempt.host });
  const host = joinHosts(first.attempt.host, second.attempt.host);
  throw new StepFailed(
    code,
    owner,
    [...new Set([first, second].map(({ failure }) => failure.problem))].join(' '),
    sameHost?.remedy === remedy
      ? (toFailure({ ...first.attempt, host })?.remedy ?? remedy)
      : `${remedy} ${second.failure.remedy}`,
  );
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The message of an unforeseen error may quote data; its name and place do not. */
function placeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const place = fault.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return `${fault.name}${place ? ` ${place.trim()}` : ''}`;
}
