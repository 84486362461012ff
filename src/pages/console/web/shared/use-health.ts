import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { readHealth, readRecent, toProblem, type GatewayProblem, type Recent } from './gateway.js';
import type { Health } from './health.js';
import { serverNow } from './time.js';

const [HEALTHY_MS, TROUBLE_MS, GONE_MS] = [10_000, 4000, 2000];

/** The last responses, all from the same moment, and the reason why there are no newer ones. */
export interface Live {
  readonly health: Health | null;
  /** The last hour; null on a page that does not fetch it. */
  readonly recent: Recent | null;
  /** Time of the responses, ms by the gateway's clock. */
  readonly answeredAt: number;
  /** Null while the gateway responds. */
  readonly problem: GatewayProblem | null;
  /** Time at which the gateway stopped answering. */
  readonly goneSince: string | null;
}

/** The current health, and the last hour on request; or the problem in fetching them. */
export async function askHealth(wantsRecent = false, before: Live | null = null): Promise<Live> {
  try {
    const [health, recent] = await Promise.all([
      readHealth(),
      // a failure to read the last hour does not hide the health
      wantsRecent ? readRecent().catch(() => before?.recent ?? null) : null,
    ]);
    return { health, recent, answeredAt: serverNow(), problem: null, goneSince: null };
  } catch (error) {
    const goneSince = before?.goneSince ?? new Date(serverNow()).toISOString();
    const { health = null, recent = null, answeredAt = serverNow() } = before ?? {};
    return { health, recent, answeredAt, problem: toProblem(error), goneSince };
  }
}

/** Polls while the page is visible, more often when something is wrong. The returned function polls now. */
export function useHealth(first: Live, wantsRecent = false): readonly [Live, () => void] {
  const [live, setLive] = useState(first);
  const latest = useRef(first);
  const timer = useRef<number | undefined>(undefined);
  const asking = useRef(false);

  const ask = useCallback(async () => {
    window.clearTimeout(timer.current);
    if (asking.current || document.visibilityState === 'hidden') return;
    asking.current = true;
    latest.current = await askHealth(wantsRecent, latest.current);
    asking.current = false;
    setLive(latest.current);
    schedule();
  }, []);

  function schedule(): void {
    const { health, problem } = latest.current;
    const wait = problem ? GONE_MS : health?.status === 'ok' ? HEALTHY_MS : TROUBLE_MS;
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void ask(), wait);
  }

  useEffect(() => {
    schedule();
    const onVisible = () => void ask();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      window.clearTimeout(timer.current);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, []);

  return [live, () => void ask()];
}
