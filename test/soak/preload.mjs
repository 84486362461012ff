// Loaded into the gateway's process by the soak: on SIGUSR2 it writes what the process holds, after a collection.
import { renameSync, writeFileSync } from 'node:fs';

const path = process.env.SOAK_VITALS;
process.on('SIGUSR2', () => {
  // timers that are due and answers on their way get their turn first
  setImmediate(() => {
    globalThis.gc();
    globalThis.gc();
    const resources = Object.groupBy(process.getActiveResourcesInfo(), (name) => name);
    const counts = Object.fromEntries(Object.entries(resources).map(([name, all]) => [name, all.length]));
    writeFileSync(`${path}.new`, JSON.stringify({ heapBytes: process.memoryUsage().heapUsed, resources: counts }));
    renameSync(`${path}.new`, path);
  });
});
