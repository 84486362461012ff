import { Worker } from 'node:worker_threads';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { workerUrl } from '../worker-url.js';
import type { ClientCertificate } from './client-certificate.js';
import { KDF_BUDGET_MS } from './kdf-budget.js';
import { PfxUnreadable, type PfxFault, type SettingNames } from './pfx-unreadable.js';

/** A PFX to open, and what messages call the settings it came from. */
export interface PfxRequest {
  readonly bytes: Buffer;
  readonly passcode: string;
  readonly names: SettingNames;
  /** PEM of the roots that may complete the chain; null for the runtime's own. */
  readonly roots: readonly string[] | null;
  readonly now: Date;
}

/** What the worker answers with: it cannot hand over an error of a class. */
export type PfxAnswer =
  | { readonly certificate: ClientCertificate }
  | { readonly refusal: { readonly reason: PfxFault; readonly message: string } };

/** The budget of key derivation ends the work first; this is for what it does not count, and to start the thread. */
const DEADLINE_MS = KDF_BUDGET_MS + 5000;

/** A good PFX is read in 24 MB; noise ends here instead of taking the memory of the service. scrypt's comes on top. */
const HEAP_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/**
 * Key, certificate and chain out of a PFX, read in a worker thread of its own, so that nothing else waits for it, however
 * many rounds of key derivation the file asks for. Takes 35 s at most; when `signal` ends it, it rejects with the reason.
 * @throws PfxUnreadable
 */
export async function openPfx(request: PfxRequest, signal?: AbortSignal): Promise<ClientCertificate> {
  signal?.throwIfAborted();
  const worker = new Worker(workerUrl('./open-pfx.worker.js', import.meta.url), {
    workerData: request,
    resourceLimits: HEAP_MB,
    // it needs none of it, and the environment may hold secrets
    env: {},
  });
  try {
    const answer = toAnswer(worker);
    const result = await within(signal ? orAborted(answer, signal) : answer, DEADLINE_MS);
    if (result === TIMED_OUT) {
      throw new PfxUnreadable(
        'unknown-algorithm',
        `The PFX could not be read within ${DEADLINE_MS / 1000} s; export it again with -iter 100000, or have it checked: it may be damaged.`,
      );
    }
    if ('refusal' in result) throw new PfxUnreadable(result.refusal.reason, result.refusal.message);
    return result.certificate;
  } finally {
    void worker.terminate();
  }
}

function toAnswer(worker: Worker): Promise<PfxAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PfxAnswer>();
  worker.once('message', resolve);
  worker.once('error', (error: NodeJS.ErrnoException) => {
    const tooLarge = new PfxUnreadable(
      'damaged',
      'The PFX is damaged: its structure takes more memory than any PFX needs. Copy it again, in binary mode.',
    );
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge : error);
  });
  // comes after the others, and then has no effect
  worker.once('exit', (code) =>
    reject(new Error(`the thread that reads the PFX ended with ${code}, without an answer`)),
  );
  return promise;
}
