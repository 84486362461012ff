import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Close = () => unknown;

/** What the file started, then what the running test started. */
const scopes: Close[][] = [[]];

/** Called once the running test has ended, or the file's last test if none runs. What was started last is closed first. */
export function onClose(close: Close): void {
  scopes.at(-1)?.push(close);
}

/** A new directory, removed on close. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-gateway-test-'));
  onClose(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** For what is started from here until `closeAll`. */
export function openScope(): void {
  scopes.push([]);
}

/** Closes everything that was started since `openScope`. @throws the first error, once all has been closed */
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
