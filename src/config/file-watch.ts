import { statSync } from 'node:fs';

/** Number of looks after which files that still change are reported all the same, so that one touched over and over is seen too. */
const MAX_LOOKS = 4;

/**
 * Notices changes of files that it polls: written, replaced by rename, or their link changed (as
 * Kubernetes does with secrets).
 */
export class FileWatch {
  #known: string;
  #last: string;
  /** Number of looks in a row at files that differ from the known ones. */
  #looks = 0;

  constructor(private readonly paths: readonly string[]) {
    this.#known = this.#last = toSignature(paths);
  }

  /**
   * Looks at the files. Returns true once for each change: when two looks in a row found the same new files, or MAX_LOOKS in
   * a row found others. They are then the known ones.
   */
  takeChange(): boolean {
    const signature = toSignature(this.paths);
    const isStill = signature === this.#last;
    this.#last = signature;
    if (signature === this.#known) {
      this.#looks = 0;
      return false;
    }
    this.#looks += 1;
    if (!isStill && this.#looks < MAX_LOOKS) return false;
    this.#known = signature;
    this.#looks = 0;
    return true;
  }

  /** Takes the files as they are now for known. Call it before they are read: a change meanwhile is then seen. */
  acknowledge(): void {
    this.#known = this.#last = toSignature(this.paths);
    this.#looks = 0;
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
