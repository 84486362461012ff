import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { readHealth, toProblem, type GatewayProblem } from './gateway.js';
import type { Health } from './health.js';
import { serverNow } from './time.js';

const [WELL_MS, TROUBLE_MS, GONE_MS] = [15_000, 4000, 2000];

/** The last health, and why there is no newer one. */
export interface Live {
  readonly health: Health | null;
  /** When it came, ms of the gateway's clock. */
  readonly answeredAt: number;
  /** Null while the gateway answers. */
  readonly problem: GatewayProblem | null;
  /** Time at which the gateway stopped answering. */
  readonly goneSince: string | null;
}

/** The health now, or the problem with it. */
export async function askHealth(before: Live | null = null): Promise<Live> {
  try {
    const health = await readHealth();
    return { health, answeredAt: serverNow(), problem: null, goneSince: null };
  } catch (error) {
    const goneSince = before?.goneSince ?? new Date(serverNow()).toISOString();
    const { health = null, answeredAt = serverNow() } = before ?? {};
    return { health, answeredAt, problem: toProblem(error), goneSince };
  }
}

/** Polls /health while the page can be seen, more often when something is wrong; the function asks now. */
export function useHealth(first: Live): readonly [Live, () => void] {
  const [live, setLive] = useState(first);
  const latest = useRef(first);
  const timer = useRef<number | undefined>(undefined);
  const asking = useRef(false);

  const ask = useCallback(async () => {
    window.clearTimeout(timer.current);
    if (asking.current || document.visibilityState === 'hidden') return;
    asking.current = true;
    latest.current = await askHealth(latest.current);
    asking.current = false;
    setLive(latest.current);
    schedule();
  }, []);

  function schedule(): void {
    const { health, problem } = latest.current;
    const wait = problem ? GONE_MS : health?.status === 'ok' ? WELL_MS : TROUBLE_MS;
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
