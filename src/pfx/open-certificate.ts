import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../config/built-file.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { ClientCertificate } from './client-certificate.js';

/** The files of a client certificate, and what it is checked against. */
export interface CertificateRequest {
  readonly source:
    | { readonly kind: 'pfx'; readonly bytes: Uint8Array; readonly passcode: string }
    | {
        readonly kind: 'pem';
        readonly chain: Uint8Array;
        readonly key: Uint8Array;
        readonly passphrase: string;
      };
  /** PEM of the roots that may complete the chain; null for the runtime's own. */
  readonly roots: readonly string[] | null;
  readonly now: Date;
}

/** Read at the start: a later build may replace the file. */
const PROGRAM = readFileSync(builtFile('open-certificate.worker.cjs'), 'utf8');

const DEADLINE_MS = 35_000;

/** A good PFX is read in 24 MB; a hostile one ends here instead of taking the memory of the service. */
const HEAP_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/**
 * Key, certificate and chain out of a PFX or PEM files. It runs in its own worker thread for at most 35 s, so that key
 * derivation does not stall callers. When `signal` aborts, it rejects with the reason.
 * @throws CertificateUnreadable
 */
export async function openCertificate(request: CertificateRequest, signal?: AbortSignal): Promise<ClientCertificate> {
  signal?.throwIfAborted();
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: request,
    resourceLimits: HEAP_MB,
    // it needs none of it, and the environment may contain secrets
    env: {},
  });
  try {
    const reply = toReply(worker);
    const certificate = await within(signal ? orAborted(reply, signal) : reply, DEADLINE_MS);
    if (certificate !== TIMED_OUT) return certificate;
    throw new CertificateUnreadable(
      'damaged',
      `The client certificate could not be opened within ${DEADLINE_MS / 1000} s.`,
      `Export it again with -iter 100000, or check where it comes from: it may be damaged.`,
    );
  } finally {
    void worker.terminate();
  }
}

function toReply(worker: Worker): Promise<ClientCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientCertificate>();
  worker.once('message', resolve);
  worker.once('error', (error: NodeJS.ErrnoException & CertificateUnreadable) => {
    const { name, code, reason, problem, remedy } = error;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const tooLarge = 'The PFX is damaged: its structure takes more memory than any PFX needs.';
      reject(new CertificateUnreadable('damaged', tooLarge, 'Copy it again in binary mode.'));
    } else {
      // between threads, an error keeps its properties but not its class
      reject(name === 'CertificateUnreadable' ? new CertificateUnreadable(reason, problem, remedy) : error);
    }
  });
  // comes after the others, and then has no effect
  worker.once('exit', (code) => reject(new Error(`the certificate worker exited with ${code} before it answered`)));
  return promise;
}
