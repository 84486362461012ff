import { useEffect, useState } from 'preact/hooks';

/** Renders the component again each second while `ticking`. */
export function useSeconds(ticking = true): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (!ticking) return undefined;
    const timer = window.setInterval(() => setCount((count) => count + 1), 1000);
    return () => window.clearInterval(timer);
  }, [ticking]);
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
