/** Waits this many ms. @throws the signal's reason as soon as it is aborted */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    // the signal belongs to this call alone, and is discarded with it
    signal.addEventListener('abort', onAbort, { once: true });
  });

/** The result of `work`. @throws the signal's reason as soon as it is aborted, even if `work` goes on */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
