const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

interface StopSignal {
  /** Resolves with the first signal to stop. */
  readonly received: Promise<NodeJS.Signals>;
  /** The signal, if one has arrived. */
  readonly signal: NodeJS.Signals | null;
}

/**
 * Listens for a signal to stop, instead of main.ts. A second one ends the process at once, as people who press ^C twice
 * expect.
 */
export function listenForStop(process: NodeJS.Process): StopSignal {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let first: NodeJS.Signals | null = null;
  for (const signal of SIGNALS) {
    const before = process.listeners(signal);
    process.on(signal, () => {
      if (first !== null) process.exit(1);
      first = signal;
      resolve(signal);
    });
    // only now: a signal that has arrived is lost when nobody listens for a moment
    for (const listener of before) process.off(signal, listener);
  }
  return {
    received: promise,
    get signal() {
      return first;
    },
  };
}
