import { FileWatch } from '../config/file-watch.js';
import type { Settings } from '../config/settings.js';
import type { Clock, Instant } from '../time/clock.js';
import { readIdentityMaterial, watchedFiles, type IdentityMaterial } from './identity-material.js';

/** Files that cannot be used are read again after this time: the reason may pass without a change of the files (EMFILE). */
const READ_AGAIN_AFTER_MS = 60_000;

/** The files of the identity: when they should be read, and what they contain. */
export class IdentityFiles {
  readonly #watch: FileWatch;
  /** When they last turned out to be unusable; null once they have been read. */
  #unusableAt: Instant | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    this.#watch = new FileWatch(watchedFiles(settings));
  }

  /** True once for each change, when it has settled. To be called periodically. */
  takeChange(): boolean {
    return this.#watch.takeChange();
  }

  /** True if they could not be used a minute ago, and have not been read since. */
  get mustReadAgain(): boolean {
    return this.#unusableAt !== null && this.clock.since(this.#unusableAt) >= READ_AGAIN_AFTER_MS;
  }

  /** @throws CertificateUnreadable, FileUnusable, or the reason of `signal` */
  async read(signal?: AbortSignal): Promise<IdentityMaterial> {
    // before they are read: a change meanwhile is then seen
    this.#watch.acknowledge();
    try {
      const material = await readIdentityMaterial(this.settings, new Date(this.clock.now().wall), signal);
      this.#unusableAt = null;
      return material;
    } catch (error) {
      this.#unusableAt = this.clock.now();
      throw error;
    }
  }
}
