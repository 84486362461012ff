import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toRoots } from './identity-check.js';
import type { IdentityContent } from './identity-files.js';

/** The root certificates for clients that a running sandbox accepts; `--renew --new-ca` in another process adds one. */
export class ClientRoots {
  readonly #file: string | null;
  readonly #ca: string;
  #roots: string[];
  #changedAt: number;

  /** @param directory null for an identity without files */
  constructor(identity: IdentityContent, directory: string | null) {
    this.#ca = identity.ca;
    this.#file = directory && join(directory, 'client-ca.pem');
    this.#roots = toRoots(identity);
    this.#changedAt = this.#lastChange();
  }

  /** PEM. The same array until the file changes. */
  get current(): string[] {
    const changedAt = this.#lastChange();
    if (this.#file && changedAt !== this.#changedAt) {
      this.#changedAt = changedAt;
      this.#roots = toRoots({ ca: this.#ca, clientRoots: readFileSync(this.#file, 'utf8') });
    }
    return this.#roots;
  }

  #lastChange(): number {
    return (this.#file && statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs) || 0;
  }
}
