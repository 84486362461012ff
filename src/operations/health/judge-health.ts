import type { GatewayFacts } from './gateway-status.js';
import { judgeListener, judgePath, judgeSharing, judgeStopping } from './judge-parts.js';
import { canAnswer } from './can-answer.js';

/** True if this instance takes calls, and a call for accounts would be answered now. */
export const isReady = (facts: GatewayFacts): boolean =>
  !facts.stopping && canAnswer(facts) && !isRefusedSinceStart(facts);

/**
 * True if this instance has never had its own token, for a reason of the operator: a rollout with a wrong secret must stop,
 * whatever copy of another instance or an earlier run it could serve.
 */
function isRefusedSinceStart({ bank, certificate, token }: GatewayFacts): boolean {
  const isRefused = certificate.unusable !== null || token.trouble?.error.owner === 'operator';
  return bank.lastSuccessAt.token === null && isRefused;
}

/** The health of the gateway, and of each component that it has (docs/troubleshooting.md#health). */
export function judgeHealth(facts: GatewayFacts) {
  const { stopping, listener } = facts;
  const { redis } = facts.sharing;
  const parts = {
    ...(stopping && { instance: judgeStopping() }),
    ...judgePath(facts),
    ...(listener && { listener: judgeListener(listener) }),
    ...(redis && { sharing: judgeSharing(redis.reason) }),
  };
  return { status: toStatus(isReady(facts), Object.values(parts)), parts };
}

function toStatus(ready: boolean, parts: readonly { readonly status: string }[]): 'ok' | 'degraded' | 'error' {
  if (!ready) return 'error';
  const healthy = parts.every(({ status }) => status === 'up' || status === 'unknown');
  return healthy ? 'ok' : 'degraded';
}
