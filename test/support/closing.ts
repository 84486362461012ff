import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const closers = new Set<() => Promise<void>>();

/** For afterEach: ends every server, program and egress that a test left, and removes its directories. */
export async function closeAll(): Promise<void> {
  const all = [...closers];
  closers.clear();
  for (const close of all) await close();
}

/** Is called by the next `closeAll`. */
export function onClose(close: () => Promise<void>): void {
  closers.add(close);
}

/** Removed by `closeAll`. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'egress-'));
  onClose(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
