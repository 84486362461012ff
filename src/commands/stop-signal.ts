const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Resolves with the first signal to stop; a second one ends the process at once, as people who press ^C twice expect. */
export function stopSignal(process: NodeJS.Process): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        resolve(signal);
      });
    }
  });
}
