import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ListPage } from '../bank/account-reader.js';
import type { PageFacts } from '../bank/page-reader.js';
import { builtFile } from '../config/built-file.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Order, Reply } from './builder.worker.js';
import type { SnapshotHeader } from './sections.js';

/** Heap limit, MB, without the bytes of the snapshot. A list that exceeds it ends the thread, not the process. */
const MAX_HEAP_MB = 1024;
/** A larger young generation saves little time and costs memory. */
const MAX_YOUNG_MB = 32;

/** Read at the start: a build may replace the file. */
const PROGRAM = readFileSync(builtFile('snapshot-builder.worker.cjs'), 'utf8');

/** The worker thread that parses the bank's pages and builds snapshots of them, so that the serving thread does not. */
export class BuilderThread {
  readonly #worker: Worker;
  #ended: GatewayError | null = null;
  /** Rejects the pending reply. */
  #reject: ((error: GatewayError) => void) | null = null;

  constructor(program = PROGRAM, maxHeapMb = MAX_HEAP_MB) {
    this.#worker = new Worker(program, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    // the server keeps the process alive, not this
    this.#worker.unref();
    const end = (error: GatewayError) => {
      this.#ended ??= error;
      this.#reject?.(this.#ended);
    };
    this.#worker.once('error', (cause) => end(hasEnded(cause)));
    this.#worker.once('exit', () => end(hasEnded()));
  }

  /**
   * Takes a page, and its bytes with it. Page 1 begins the list anew. The next one must wait for the result.
   * @throws GatewayError bank-response-invalid, internal-error
   */
  async takePage({ number, body }: ListPage): Promise<PageFacts> {
    const owned = toOwned(body);
    return (await this.#ask({ kind: 'page', number, body: owned }, [owned.buffer])) as PageFacts;
  }

  /** The buffer of a `Snapshot`. @throws GatewayError as `takePage` */
  async finish(header: Pick<SnapshotHeader, 'asOf' | 'complete'>): Promise<ArrayBuffer> {
    return (await this.#ask({ kind: 'finish', header })) as ArrayBuffer;
  }

  /** Terminates the thread, even during work. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(order: Order, transfer: ArrayBuffer[] = []): Promise<PageFacts | ArrayBuffer> {
    if (this.#ended) throw this.#ended;
    // no Promise.race with a promise that lives as long as the thread: it would keep every reply, and so every snapshot
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#reject = reject;
    this.#worker.once('message', resolve);
    this.#worker.postMessage(order, transfer);
    const reply = await promise.finally(() => {
      this.#reject = null;
      this.#worker.off('message', resolve);
    });
    if ('problem' in reply) throw new GatewayError(reply.problem.code, reply.problem.detail);
    return reply.value;
  }
}

function hasEnded(cause?: unknown): GatewayError {
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const detail = 'The account list is too large for the memory of this service.';
    return new GatewayError('bank-response-invalid', detail, { cause });
  }
  const detail = 'The thread that builds the snapshot ended; the next refresh starts another.';
  return new GatewayError('internal-error', detail, { cause });
}

/** Copies the bytes to a transferable buffer if they share one with other data, as small buffers do. */
function toOwned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
