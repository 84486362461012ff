import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Program } from '../support/program.js';
import { until } from '../support/until.js';

/** What a process has in use. */
export interface Vitals {
  readonly heapMb: number;
  readonly files: number;
  readonly sockets: number;
}

/** On SIGUSR2 the process writes what it has in use, after a collection. */
const PRELOAD = `
import { renameSync, writeFileSync } from 'node:fs';
const path = process.env.SOAK_VITALS;
process.on('SIGUSR2', () => setImmediate(() => {
  globalThis.gc();
  globalThis.gc();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length;
  writeFileSync(path + '.new', JSON.stringify({ heapMb: Math.round(process.memoryUsage().heapUsed / 1e6), sockets }));
  renameSync(path + '.new', path);
}));`;

export const VITALS_FLAGS = ['--expose-gc', `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`] as const;

/** Asks the process, which must have been started with `VITALS_FLAGS` and SOAK_VITALS=path. */
export async function readVitals({ child }: Program, path: string): Promise<Vitals> {
  rmSync(path, { force: true });
  child.kill('SIGUSR2');
  await until(() => existsSync(path));
  const { heapMb, sockets } = JSON.parse(readFileSync(path, 'utf8')) as Vitals;
  return { heapMb, sockets, files: readdirSync(`/proc/${child.pid}/fd`).length };
}
