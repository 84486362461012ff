import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../shared/time.js';

/** True once the gateway's clock has reached this instant; false while it is null. */
export function useExpired(expiresAt: string | null): boolean {
  const [, setCount] = useState(0);
  const left = expiresAt === null ? Infinity : Date.parse(expiresAt) - serverNow();
  useEffect(() => {
    if (left <= 0 || left === Infinity) return undefined;
    const timer = window.setTimeout(() => setCount((count) => count + 1), left);
    return () => window.clearTimeout(timer);
  }, [expiresAt]);
  return left <= 0;
}
