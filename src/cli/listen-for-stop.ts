/** npm passes ^C on to its program, which has it from the terminal already: within this time, the two are one. */
const SAME_KEY_MS = 200;

/**
 * Listens for SIGTERM and SIGINT, instead of main.ts. The first one aborts, with its name as the reason. A second one ends
 * the process at once, as people who press ^C twice expect.
 */
export function listenForStop(process: NodeJS.Process): AbortSignal {
  const stop = new AbortController();
  let stoppedAt = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const before = process.listeners(signal);
    process.on(signal, () => {
      if (!stop.signal.aborted) {
        stoppedAt = performance.now();
        stop.abort(signal);
      } else if (signal === 'SIGTERM' || performance.now() - stoppedAt > SAME_KEY_MS) {
        process.exit(1);
      }
    });
    // only now: a signal that has arrived is lost when nobody listens for a moment
    for (const listener of before) process.off(signal, listener);
  }
  return stop.signal;
}
