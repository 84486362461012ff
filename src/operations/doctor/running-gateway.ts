import { z } from 'zod';
import { ownAddress } from '../../config/own-address.js';
import type { Settings } from '../../config/settings.js';

const TIMEOUT_MS = 1000;
/** No back-off of a gateway is longer. */
const MAX_WAIT_MS = 300_000;
/** Each further attempt may lock the user, or annoys the bank. */
const REFUSALS = new Set(['credentials-rejected', 'certificate-rejected', 'address-not-allowed']);

const healthSchema = z.object({
  details: z.object({
    token: z.object({ lastError: z.object({ code: z.string() }).nullish() }),
    bank: z.object({ mode: z.literal('live'), host: z.string(), nextAttemptAt: z.iso.datetime() }),
  }),
});

/**
 * How long a gateway on this machine, with these settings, still waits after a refusal of the same bank, ms; 0 if there is none, or
 * if it cannot be seen. It is asked over plain HTTP.
 */
export async function runningBackOffMs(settings: Settings, nowMs: number): Promise<number> {
  const { HOST: host, PORT: port, BANK_BASE_URL: baseUrl } = settings;
  try {
    const url = `http://${ownAddress(host, port)}/health`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    const { token, bank } = healthSchema.parse(await answer.json()).details;
    if (!REFUSALS.has(token.lastError?.code ?? '') || bank.host !== new URL(baseUrl).host) return 0;
    return Math.min(MAX_WAIT_MS, Math.max(0, Date.parse(bank.nextAttemptAt) - nowMs));
  } catch {
    return 0;
  }
}
