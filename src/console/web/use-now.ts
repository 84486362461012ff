import { useEffect, useState } from 'preact/hooks';

/** The monotonic time (performance.now), new each second. */
export function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(performance.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  // what was measured since the last tick is not from the future
  return Math.max(now, performance.now() - 1000);
}

/** A number that grows every so many ms, while the page can be seen. */
export function useTurns(everyMs: number): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') setTurn((count) => count + 1);
    }, everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return turn;
}
