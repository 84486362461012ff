import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../../config/built-file.js';
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

/** A good PFX needs 24 MB. A hostile one fails at this limit instead of exhausting the memory of the service. */
const HEAP_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/**
 * Reads key, certificate and chain from a PFX or PEM files. It runs in its own worker thread for at most 35 s, so that key
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
  // it may fail after it was left
  worker.on('error', () => undefined);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    const end = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const [certificate] = (await once(worker, 'message', { signal: end })) as [ClientCertificate];
    return certificate;
  } catch (error) {
    signal?.throwIfAborted();
    throw toUnreadable(error as Error, deadline.aborted);
  } finally {
    void worker.terminate();
  }
}

function toUnreadable(error: Error, isLate: boolean): Error {
  if (isLate || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new CertificateUnreadable(
      'damaged',
      `The client certificate takes more than ${DEADLINE_MS / 1000} s or ${HEAP_MB.maxOldGenerationSizeMb} MB to open.`,
      'Check where the file comes from: it may be damaged. Or export it again with -iter 100000.',
    );
  }
  if (error.name !== 'CertificateUnreadable') return error;
  // between threads, an error keeps its properties but not its class
  const { reason, problem, remedy } = error as CertificateUnreadable;
  return new CertificateUnreadable(reason, problem, remedy);
}
