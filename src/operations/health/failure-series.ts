import type { GatewayFacts } from './gateway-status.js';

/** The current failures of token and list as one series; all null, and the circuit closed, when there are none. */
export function toFailureSeries({ token, snapshot }: Pick<GatewayFacts, 'token' | 'snapshot'>) {
  const failing = [token.failure, snapshot.failure].filter(({ failingSince }) => failingSince !== null);
  const attempts = failing.map((each) => each.attempts);
  const starts = failing.map(({ failingSince }) => failingSince).toSorted();
  const nextAttempts = failing.map(({ nextAttemptAt }) => nextAttemptAt).toSorted();
  return {
    /** The state of the back-off: whether the bank is asked. */
    circuit: worstOf([token.circuit, snapshot.circuit]),
    failingSince: starts[0] ?? null,
    attempts: failing.length > 0 ? Math.max(...attempts) : null,
    nextAttemptAt: nextAttempts.at(-1) ?? null,
  };
}

export type Circuit = GatewayFacts['token']['circuit'];

function worstOf(circuits: readonly Circuit[]): Circuit {
  if (circuits.includes('open')) return 'open';
  return circuits.includes('half-open') ? 'half-open' : 'closed';
}
