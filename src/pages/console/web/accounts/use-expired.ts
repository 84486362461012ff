import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../shared/time.js';

/** True once the gateway's clock has passed this instant during a failure, and from then on for the same instant. */
export function useExpired(expiresAt: string | null | undefined, isFailing: boolean): boolean {
  const [past, setPast] = useState<string | null>(null);
  useEffect(() => {
    if (!isFailing || !expiresAt) return undefined;
    const timer = window.setTimeout(() => setPast(expiresAt), Date.parse(expiresAt) - serverNow());
    return () => window.clearTimeout(timer);
  }, [expiresAt, isFailing]);
  return past !== null && past === expiresAt;
}
