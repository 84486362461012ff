import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { readHealth, readRecent, toProblem, type GatewayProblem, type Recent } from './gateway.js';
import type { Health } from './health.js';
import { serverNow } from './time.js';

/** Between polls while all is well, and while something is wrong or changes. */
const [CALM_MS, SOON_MS] = [10_000, 3000];

/** The last responses, and the reason why there are no newer ones. */
export interface Live {
  readonly health: Health | null;
  /** The last hour, of the same poll as the health, or of an earlier one if it could not be read; null before the first, and on a page that does not fetch it. */
  readonly recent: Recent | null;
  /** Time of the responses, ms by the gateway's clock. */
  readonly answeredAt: number;
  /** Null while /health can be read. */
  readonly problem: GatewayProblem | null;
  /** The first failure to read /health, ISO 8601; null while it can be read. */
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

/** True if nothing is wrong, and nothing is about to change. */
const isCalm = ({ health, problem }: Live): boolean =>
  problem === null &&
  health?.status === 'ok' &&
  !health.details.snapshot.stale &&
  health.details.certificate.next === null;

/** Polls while the page is visible, more often while something is wrong or changes. The returned function polls now. */
export function useHealth(first: Live, wantsRecent = false): readonly [Live, () => void] {
  const [live, setLive] = useState(first);
  const latest = useRef(first);
  const timer = useRef<number | undefined>(undefined);
  const asking = useRef(false);

  const ask = useCallback(async () => {
    window.clearTimeout(timer.current);
    if (asking.current || document.visibilityState === 'hidden') return;
    asking.current = true;
    const before = latest.current;
    latest.current = await askHealth(wantsRecent, before);
    asking.current = false;
    setLive(latest.current);
    schedule(isCalm(before) && isCalm(latest.current));
  }, []);

  function schedule(isSettled: boolean): void {
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void ask(), isSettled ? CALM_MS : SOON_MS);
  }

  useEffect(() => {
    schedule(isCalm(first));
    const onVisible = () => void ask();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      window.clearTimeout(timer.current);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, []);

  return [live, () => void ask()];
}
