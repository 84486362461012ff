import type { GatewayFacts } from './gateway-status.js';

/** The current failures of token and list as one series; all null, and the circuit closed, when there are none. */
export function toFailureSeries({ token, snapshot }: Pick<GatewayFacts, 'token' | 'snapshot'>) {
  const troubles = [token.trouble, snapshot.trouble].filter((trouble) => trouble !== null);
  const circuits = troubles.map(({ circuit }) => circuit);
  return {
    /** The state of the back-off: whether the bank is asked. */
    circuit: circuits.includes('open') ? ('open' as const) : (circuits[0] ?? ('closed' as const)),
    failingSince: troubles.map(({ since }) => since).toSorted()[0] ?? null,
    attempts: troubles.length > 0 ? Math.max(...troubles.map(({ attempts }) => attempts)) : null,
    nextAttemptAt:
      troubles
        .map(({ retryAt }) => retryAt)
        .toSorted()
        .at(-1) ?? null,
  };
}
