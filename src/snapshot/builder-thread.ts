import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ListPage } from '../bank/account-reader.js';
import type { PageFacts } from '../bank/page-reader.js';
import { builtFile } from '../config/built-file.js';
import { GatewayError } from '../problems/gateway-error.js';
import { TIMED_OUT, within } from '../time/deadline.js';
import type { Order, Reply } from './builder.worker.js';
import type { SnapshotHeader } from './sections.js';

/** Limits of the thread; tests set their own. */
export interface BuilderThreadOptions {
  readonly program?: string;
  /** Time limit for a reply; a thread that exceeds it is considered hung. */
  readonly answerWithinMs?: number;
  /** Limit of its heap, MB; the bytes of the snapshot are not in it. */
  readonly maxHeapMb?: number;
}

/** On an idle machine a page of 32 MB takes up to two seconds, the end of 200 000 accounts four. */
const ANSWER_WITHIN_MS = 45_000;
/** Heap limit, MB. A list that exceeds it ends the thread, not the process. */
const MAX_HEAP_MB = 1024;
/** A larger young generation saves little time and costs memory. */
const MAX_YOUNG_MB = 32;

/** Read at the start: a build may replace the file. */
const PROGRAM = readFileSync(builtFile('snapshot-builder.worker.cjs'), 'utf8');

/** The worker thread that parses the bank's pages and builds snapshots of them, so that the serving thread does not. */
export class BuilderThread {
  readonly #worker: Worker;
  readonly #answerWithinMs: number;
  readonly #ended: Promise<never>;

  constructor({
    program = PROGRAM,
    answerWithinMs = ANSWER_WITHIN_MS,
    maxHeapMb = MAX_HEAP_MB,
  }: BuilderThreadOptions = {}) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.#answerWithinMs = answerWithinMs;
    this.#ended = promise;
    this.#ended.catch(() => undefined);
    this.#worker = new Worker(program, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    // the server keeps the process alive, not this
    this.#worker.unref();
    this.#worker.once('error', (cause) => reject(internalError('ended', cause)));
    this.#worker.once('exit', () => reject(internalError('ended')));
  }

  /**
   * Takes a page, and its bytes with it. Page 1 begins the list anew. The next one must wait for the result.
   * @throws GatewayError bank-response-invalid, internal-error
   */
  async takePage({ number, body }: ListPage): Promise<PageFacts> {
    const owned = toOwned(body);
    return (await this.#ask({ kind: 'page', number, body: owned }, [owned.buffer])) as PageFacts;
  }

  /** The buffer of a `Snapshot`. @throws GatewayError internal-error */
  async finish(header: Pick<SnapshotHeader, 'asOf' | 'complete'>): Promise<ArrayBuffer> {
    return (await this.#ask({ kind: 'finish', header })) as ArrayBuffer;
  }

  /** Terminates the thread, even during work. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(order: Order, transfer: ArrayBuffer[] = []): Promise<PageFacts | ArrayBuffer> {
    const replied = once(this.#worker, 'message') as Promise<[Reply]>;
    this.#worker.postMessage(order, transfer);
    const result = await within(Promise.race([replied, this.#ended]), this.#answerWithinMs);
    if (result === TIMED_OUT) throw internalError('did not answer');
    const [reply] = result;
    if ('problem' in reply) throw new GatewayError(reply.problem.code, reply.problem.detail);
    return reply.value;
  }
}

const internalError = (what: string, cause?: unknown) =>
  new GatewayError('internal-error', `The thread that builds the snapshot ${what}; the next refresh starts another.`, {
    cause,
  });

/** Copies the bytes to a transferable buffer if they share one with other data, as small buffers do. */
function toOwned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
