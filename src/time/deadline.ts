/** The result for a promise that took too long. */
export const TIMED_OUT = Symbol('timed out');

/** The result of `work`, or TIMED_OUT after `ms` (at once if negative); `work` continues. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT> {
  const { promise, resolve } = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(resolve, Math.max(0, ms), TIMED_OUT);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Not a closure, because that would keep its caller in memory while the work runs. */
const ignore = () => undefined;

/** The result of `work`, or a rejection with the signal's reason if that comes first; `work` continues. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // its failure must not become an unhandled rejection
  work.catch(ignore);
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
