import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { PageFacts } from '../bank/page-reader.js';
import { builtFile } from '../config/built-file.js';
import { TIMED_OUT, within } from '../time/deadline.js';
import { GatewayError } from '../problems/gateway-error.js';
import type { Order, Reply } from './builder.worker.js';
import type { SnapshotHeader } from './sections.js';

/** A snapshot that is being built. */
interface Build {
  /** Takes a page, and its bytes with it. @throws GatewayError bank-response-invalid, internal-error */
  takePage(pageNumber: number, pieces: readonly Buffer[]): Promise<PageFacts>;
  /** The buffer of a `Snapshot`. @throws GatewayError internal-error */
  finish(header: Pick<SnapshotHeader, 'asOf' | 'complete'>): Promise<ArrayBuffer>;
}

/** Times and limits of the thread; tests set their own. */
export interface BuilderThreadOptions {
  readonly program?: string;
  /** A thread that has not answered by then hangs, and is replaced. */
  readonly answerWithinMs?: number;
  /** Limit of its heap, MB; the bytes of the snapshot are not in it. */
  readonly maxHeapMb?: number;
}

/** On an idle machine a page of 32 MB takes up to two seconds, the end of 200 000 accounts four. */
const ANSWER_WITHIN_MS = 45_000;
/** A list that needs more ends the thread, not the process. */
const MAX_HEAP_MB = 1024;
/** After a snapshot of so many bytes the thread is ended: its heap would stay as large as it grew. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** A larger one saves little time and costs its size. */
const MAX_YOUNG_MB = 32;

/**
 * The worker thread that parses the bank's pages and builds snapshots of them, so that the serving thread never does. One
 * that dies or hangs fails its orders with `internal-error`, and the next build starts another.
 */
export class BuilderThread {
  readonly #program: string;
  readonly #answerWithinMs: number;
  readonly #maxHeapMb: number;
  #worker: Worker | null = null;
  #stopped = false;
  #lastId = 0;
  #lastBuild = 0;
  readonly #pending = new Map<number, PromiseWithResolvers<PageFacts | ArrayBuffer>>();

  constructor({
    program = readFileSync(builtFile('snapshot-builder.worker.cjs'), 'utf8'),
    answerWithinMs = ANSWER_WITHIN_MS,
    maxHeapMb = MAX_HEAP_MB,
  }: BuilderThreadOptions = {}) {
    this.#program = program;
    this.#answerWithinMs = answerWithinMs;
    this.#maxHeapMb = maxHeapMb;
  }

  /** Loading the modules of the thread takes as long as a reading of a short list: it is started before the first one. */
  onModuleInit(): void {
    this.#worker ??= this.#create();
  }

  /** Begins a snapshot; what was begun before is dropped. @throws GatewayError stopping */
  begin(): Build {
    // a reading that waited for another begins when that is cut off by the stop; a new thread would keep the process
    if (this.#stopped) throw stopping();
    const worker = (this.#worker ??= this.#create());
    worker.postMessage({ kind: 'begin' } satisfies Order, []);
    const build = ++this.#lastBuild;
    return {
      takePage: async (pageNumber, pieces) => {
        // a page of a reading that has failed may still come, when the next one has begun
        if (build !== this.#lastBuild) throw dropped();
        const bodies = pieces.map(owned);
        const buffers = bodies.map(({ buffer }) => buffer);
        return (await this.#ask(worker, { kind: 'page', pageNumber, pieces: bodies }, buffers)) as PageFacts;
      },
      finish: async (header) => {
        if (build !== this.#lastBuild) throw dropped();
        const buffer = (await this.#ask(worker, { kind: 'finish', header })) as ArrayBuffer;
        if (buffer.byteLength > LARGE_BYTES) void this.#end(ended());
        return buffer;
      },
    };
  }

  /** Frees the memory of an unfinished build. */
  drop(): void {
    this.#lastBuild += 1;
    this.#worker?.postMessage({ kind: 'begin' } satisfies Order, []);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stopped = true;
    await this.#end(stopping());
  }

  async #ask(worker: Worker, order: DistributiveOmit<Order, 'id'>, transfer: ArrayBuffer[] = []) {
    if (worker !== this.#worker) throw ended();
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<PageFacts | ArrayBuffer>();
    this.#pending.set(id, answer);
    worker.postMessage({ ...order, id }, transfer);
    const found = await within(answer.promise, this.#answerWithinMs);
    if (found !== TIMED_OUT) return found;
    const hangs = new GatewayError(
      'internal-error',
      'The thread that builds snapshots did not answer; it is replaced.',
    );
    await this.#end(hangs);
    throw hangs;
  }

  #create(): Worker {
    const worker = new Worker(this.#program, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    // the server keeps the process alive, not this
    worker.unref();
    worker.on('message', (reply: Reply) => {
      const answer = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ('value' in reply) answer?.resolve(reply.value);
      else answer?.reject(new GatewayError(reply.problem.code, reply.problem.detail));
    });
    worker.on('error', (cause) => this.#failed(worker, ended(cause)));
    worker.on('exit', () => this.#failed(worker, ended()));
    return worker;
  }

  async #end(error: GatewayError): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#failed(worker, error);
    await worker.terminate();
  }

  #failed(worker: Worker, error: GatewayError): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { promise, reject } of pending) {
      // the caller may have left
      promise.catch(() => undefined);
      reject(error);
    }
  }
}

type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never;

const dropped = () => new GatewayError('internal-error', 'The refresh that this page belongs to has ended.');

const stopping = () => new GatewayError('stopping', 'This instance is stopping.');

const ended = (cause?: unknown) =>
  new GatewayError('internal-error', 'The thread that builds snapshots ended; the next refresh starts another.', {
    cause,
  });

/** The bytes in a buffer of their own, which can be handed over: small ones share theirs with others. */
function owned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
