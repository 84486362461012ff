import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Close = () => unknown;

/** The resources of the file, then those of the running test. */
const scopes: Close[][] = [[]];

/**
 * Registers a function to call after the running test, or after the file's last test if none is running. Last in, first
 * closed.
 */
export function onClose(close: Close): void {
  scopes.at(-1)?.push(close);
}

/** A new directory, removed on close. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-gateway-test-'));
  onClose(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens a scope for everything started until `closeAll`. */
export function openScope(): void {
  scopes.push([]);
}

/** Closes everything of the running test; of the file if none is running. @throws the first error, after closing everything */
export async function closeAll(): Promise<void> {
  const closers = scopes.length > 1 ? (scopes.pop() ?? []) : (scopes[0]?.splice(0) ?? []);
  const errors: unknown[] = [];
  for (const close of closers.reverse()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Number of file descriptors of this process; 0 if the system does not report it. */
export function countOpenFiles(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}
