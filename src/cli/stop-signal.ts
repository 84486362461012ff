const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

interface StopSignal {
  /** Resolves with the first signal to stop. */
  readonly received: Promise<NodeJS.Signals>;
  /** That signal, if it has come. */
  readonly signal: NodeJS.Signals | null;
}

/**
 * Listens for a signal to stop; a second one ends the process at once, as people who press ^C twice expect. Without a
 * listener a container's first process would not even notice one.
 */
export function listenForStop(process: NodeJS.Process): StopSignal {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let first: NodeJS.Signals | null = null;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (first !== null) process.exit(1);
      first = signal;
      resolve(signal);
    });
  }
  return {
    received: promise,
    get signal() {
      return first;
    },
  };
}
