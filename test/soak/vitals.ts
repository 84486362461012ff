import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Program } from '../support/program.js';
import { until } from '../support/until.js';

/** What a process holds. */
export interface Vitals {
  readonly heapMb: number;
  readonly files: number;
  readonly sockets: number;
  readonly timers: number;
}

export const VITALS_FLAGS = ['--expose-gc', `--import=${new URL('preload.mjs', import.meta.url).href}`] as const;

/** Asks the process, which must have been started with `VITALS_FLAGS` and SOAK_VITALS=path. */
export async function readVitals({ child }: Program, path: string): Promise<Vitals> {
  rmSync(path, { force: true });
  child.kill('SIGUSR2');
  await until(() => existsSync(path));
  const { heapBytes, resources } = JSON.parse(readFileSync(path, 'utf8')) as {
    heapBytes: number;
    resources: Record<string, number>;
  };
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (resources[name] ?? 0), 0);
  return {
    heapMb: Math.round(heapBytes / 1e5) / 10,
    files: readdirSync(`/proc/${child.pid}/fd`).length,
    sockets: count('TCPSocketWrap', 'TLSWrap'),
    timers: count('Timeout', 'Immediate'),
  };
}
