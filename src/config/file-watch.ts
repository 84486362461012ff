import { statSync } from 'node:fs';
import type { Clock, Instant } from '../time/clock.js';

/** Files that do not stand still for so long are read all the same, so that one touched over and over is seen too. */
const UNSTABLE_AFTER_MS = 3500;

/**
 * Reports changes of files that it polls: written, replaced by rename, or their link changed (as
 * Kubernetes does with secrets).
 */
export class FileWatch {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  #known: string;
  #last: string;
  #changedAt: Instant | null = null;

  constructor(paths: readonly string[], clock: Clock) {
    this.#paths = paths;
    this.#clock = clock;
    this.#known = this.#last = toSignature(paths);
  }

  /**
   * Looks once. `changing`: another change since the look before, so somebody may still be writing. `settled`: changed
   * since `acknowledge`, and the same at two looks. `unstable`: has been changing for 3.5 s.
   */
  look(): 'unchanged' | 'changing' | 'settled' | 'unstable' {
    const signature = toSignature(this.#paths);
    const still = signature === this.#last;
    this.#last = signature;
    if (signature === this.#known) {
      this.#changedAt = null;
      return 'unchanged';
    }
    this.#changedAt ??= this.#clock.now();
    if (still) return 'settled';
    return this.#clock.since(this.#changedAt) >= UNSTABLE_AFTER_MS ? 'unstable' : 'changing';
  }

  /** The files as they are now are known. To be called before they are read: a change meanwhile is then seen. */
  acknowledge(): void {
    this.#known = this.#last = toSignature(this.#paths);
    this.#changedAt = null;
  }
}

/** The state of the files in the file system, through links, as one text. A missing file has a signature too. */
function toSignature(paths: readonly string[]): string {
  return paths.map(signatureOf).join('\n');
}

function signatureOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [path, dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return `${path} ${(error as NodeJS.ErrnoException).code}`;
  }
}
