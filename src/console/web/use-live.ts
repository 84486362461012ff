import { useEffect, useState } from 'preact/hooks';
import { readHealth, toProblem, type GatewayProblem, type Health } from './gateway.js';

const HEALTH_EVERY_MS = 5000;
const AGAIN_MS = 2000;

/** How the page and the gateway stand with each other. */
export interface Live {
  readonly health: Health | null;
  /** When `health` came (performance.now). */
  readonly healthAt: number;
  /** Why there is no newer health; null when there is. */
  readonly trouble: GatewayProblem | null;
  /** Whether changes arrive by themselves; null while that is not known. */
  readonly connected: boolean | null;
  /** The youngest reading that is known of. */
  readonly asOf: string | null;
  /** Grows with each reading that may have changed the accounts. */
  readonly turn: number;
  /** Grows with each change of what goes well and what does not. */
  readonly stateTurn: number;
}

const START: Live = { health: null, healthAt: 0, trouble: null, connected: null, asOf: null, turn: 0, stateTurn: 0 };

/** Asks for the gateway's health every few seconds while somebody can see the page. */
export function useLive(): Live {
  const [live, setLive] = useState(START);

  useEffect(() => {
    const closing = new AbortController();
    let timer: number | undefined;
    let asking = false;
    const change = (what: (before: Live) => Partial<Live>) => setLive((before) => ({ ...before, ...what(before) }));

    async function ask(): Promise<void> {
      window.clearTimeout(timer);
      if (asking || document.visibilityState === 'hidden') return;
      asking = true;
      let wait = HEALTH_EVERY_MS;
      try {
        const health = await readHealth(closing.signal);
        change((before) => {
          const { asOf } = health.details.snapshot;
          // back after an absence: what came meanwhile is not known
          const missed = before.trouble !== null;
          const turned = before.health !== null && (asOf !== before.asOf || missed);
          const changed = before.health?.status !== health.status || missed;
          return {
            health,
            healthAt: performance.now(),
            trouble: null,
            connected: true,
            asOf,
            turn: before.turn + (turned ? 1 : 0),
            stateTurn: before.stateTurn + (changed ? 1 : 0),
          };
        });
      } catch (error) {
        wait = AGAIN_MS;
        if (!closing.signal.aborted) change(() => ({ trouble: toProblem(error), connected: false }));
      }
      asking = false;
      if (!closing.signal.aborted) timer = window.setTimeout(() => void ask(), wait);
    }

    const onVisible = () => void ask();
    document.addEventListener('visibilitychange', onVisible);
    void ask();
    return () => {
      closing.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, []);

  return live;
}
