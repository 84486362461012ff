/** A SIGINT this soon after the first signal is the same ^C: under npm, it arrives from the terminal and from npm or its shell. */
const SAME_KEY_MS = 500;

/** Takes over SIGTERM and SIGINT from main.ts. The first aborts, with its name as the reason; a second exits with 1. */
export function listenForStop(process: NodeJS.Process, sameKeyMs = SAME_KEY_MS): AbortSignal {
  const stop = new AbortController();
  let stoppedAt = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const before = process.listeners(signal);
    process.on(signal, () => {
      if (!stop.signal.aborted) {
        stoppedAt = performance.now();
        stop.abort(signal);
      } else if (signal === 'SIGTERM' || performance.now() - stoppedAt > sameKeyMs) {
        process.exit(1);
      }
    });
    // only now: a signal is lost if it arrives while nobody listens
    for (const listener of before) process.off(signal, listener);
  }
  return stop.signal;
}
