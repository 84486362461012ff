import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { PageFacts } from '../list/bank-page.js';
import { builtFile } from '../config/build-output.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { ListService } from '../list/list-service.js';
import type { CancelCall, ListCall, ListMethod, ListReply } from '../list/list.worker.js';
import type { SnapshotFacts } from '../list/document-schemas.js';
import type { WholeDocument } from '../list/documents.js';
import type { Export, Query } from '../list/queries.js';
import { orAborted } from '../time/deadline.js';

/** Heap of one list, MB, if there is enough memory. */
const MAX_HEAP_MB = 1024;
/** Enough for a few thousand accounts, however small the memory is. */
const MIN_HEAP_MB = 48;
/** For the serving thread, pages in transit and V8's needs outside these heaps, MB. */
const RESERVED_MB = 400;
/** A larger young generation saves little time and costs memory. */
const MAX_YOUNG_MB = 32;
/** Queries that one list processes at once; further ones wait. */
const MAX_QUERIES = 8;

/** Read at the start: a build may replace the file. */
const PROGRAM = readFileSync(builtFile('list.worker.cjs'), 'utf8');

/** Heap limit of a list: half of the memory beside RESERVED_MB, for the cached list and the next one, within bounds. */
export const heapLimitMb = (memoryMb: number): number =>
  Math.floor(Math.max(MIN_HEAP_MB, Math.min(MAX_HEAP_MB, (memoryMb - RESERVED_MB) / 2)));

// without a container's limit, `constrainedMemory` is 0 or more than the machine has
const MEMORY_MB = Math.min(process.constrainedMemory() || Infinity, totalmem()) / 1_048_576;
const LIST_HEAP_MB = heapLimitMb(MEMORY_MB);
/** For the lists beside the next one, MB. */
const OTHERS_MB = Math.max(LIST_HEAP_MB, MEMORY_MB - RESERVED_MB - LIST_HEAP_MB);

/** The thread has ended without an error, for example because its list was replaced. Query the cached list instead. */
export class ListEnded extends GatewayError {
  constructor() {
    super('internal-error', 'The list has been replaced by a newer one.');
  }
}

/** A thread that builds one list and answers queries about it. It ends once it is retired and has no open queries. */
export class ListThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #queries = pLimit(MAX_QUERIES);
  #lastId = 0;
  /** Queries and long documents with waiting callers. */
  #open = 0;
  #retired = false;
  #ended: GatewayError | null = null;
  readonly #lost = Promise.withResolvers<GatewayError>();
  /** Resolves with the reason if the thread dies: it was neither retired nor ended. */
  readonly lost = this.#lost.promise;
  /** Oldest first. */
  static readonly #living = new Set<ListThread>();

  /**
   * Ends replaced lists, whose open responses are cut off, until the next list fits beside the others.
   * @param othersMb heap that the others may have together
   */
  static async makeRoom(othersMb = OTHERS_MB): Promise<void> {
    const lists = await Promise.all([...ListThread.#living].map(async (list) => ({ list, mb: await list.heapMb() })));
    let usedMb = lists.reduce((sum, { mb }) => sum + mb, 0);
    for (const { list, mb } of lists) {
      if (usedMb <= othersMb) return;
      if (!list.#retired) continue;
      await list.end();
      usedMb -= mb;
    }
  }

  /** @param maxHeapMb maximum heap; a list that needs more ends the thread, not the process */
  constructor({ program = PROGRAM, maxHeapMb = LIST_HEAP_MB } = {}) {
    ListThread.#living.add(this);
    this.#worker = new Worker(program, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    // the server keeps the process alive, not this thread
    this.#worker.unref();
    this.#worker.on('message', (reply: ListReply) => this.#onReply(reply));
    this.#worker.once('error', (cause) => this.#onEnd(toEndError(cause)));
    this.#worker.once('exit', () => this.#onEnd(new ListEnded()));
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** Takes ownership of the bytes. @throws GatewayError bank-response-invalid, overloaded, internal-error; ListEnded */
  takePage(number: number, body: Buffer): Promise<PageFacts> {
    const bytes = toOwned(body);
    return this.#call('takePage', [number, bytes], { transfer: [bytes.buffer] });
  }

  /** @throws as `takePage` */
  finish(): Promise<ReturnType<ListService['finish']>> {
    return this.#call('finish', []);
  }

  /** Takes ownership of the bytes. Returns the number of accounts. @throws as `takePage` */
  async restore(json: Uint8Array<ArrayBuffer>): Promise<number> {
    return this.#call('restore', [json], { transfer: [json.buffer] });
  }

  /**
   * Null for an account that is not in the list. Aborting `signal` cancels the query.
   * @throws ListEnded; GatewayError overloaded, internal-error; the reason of `signal`
   */
  async document(query: Query, facts: SnapshotFacts, signal: AbortSignal): Promise<WholeDocument | null> {
    this.#open += 1;
    try {
      const built = this.#queries(() => this.#call('document', [query, facts], { signal }));
      return await orAborted(built, signal);
    } finally {
      this.#open -= 1;
      this.#endIfIdle();
    }
  }

  /** A long document in pieces of about 64 KB, each built on demand. @throws as `document` */
  async *pieces(asked: Query | Export, facts: SnapshotFacts, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    this.#open += 1;
    this.#lastId += 1;
    const document = this.#lastId;
    try {
      for (;;) {
        const piece = await this.#call('nextPiece', [document, asked, facts], { signal });
        if (piece === null) return;
        yield piece;
      }
    } finally {
      this.#open -= 1;
      if (!this.hasEnded) await this.#call('closeDocument', [document]);
    }
  }

  /** The accounts, for storing; null if they take more than `maxBytes`. @throws as `document`, without a signal */
  toJson(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
    return this.#call('toJson', [maxBytes]);
  }

  retire(): void {
    this.#retired = true;
    this.#endIfIdle();
  }

  /** Even during work. */
  async end(): Promise<void> {
    this.#retired = true;
    await this.#worker.terminate();
  }

  /** 0 once it has ended. */
  heapMb(): Promise<number> {
    return this.#worker.getHeapStatistics().then(
      ({ total_heap_size }) => total_heap_size / 1_048_576,
      () => 0,
    );
  }

  #endIfIdle(): void {
    if (this.#retired && this.#pending.size === 0 && this.#open === 0) void this.end();
  }

  async #call<M extends ListMethod>(
    method: M,
    args: Parameters<ListService[M]>,
    { transfer = [], signal }: { readonly transfer?: ArrayBuffer[]; readonly signal?: AbortSignal } = {},
  ): Promise<Awaited<ReturnType<ListService[M]>>> {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = Promise.withResolvers<unknown>();
    const cancel = () => this.#cancel(id, signal?.reason);
    this.#pending.set(id, reply);
    this.#worker.postMessage({ id, method, args } satisfies ListCall, transfer);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return (await reply.promise) as Awaited<ReturnType<ListService[M]>>;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #cancel(id: number, reason: unknown): void {
    this.#pending.get(id)?.reject(reason);
    this.#pending.delete(id);
    if (this.#ended) return;
    this.#worker.postMessage({ cancel: id } satisfies CancelCall, []);
    this.#endIfIdle();
  }

  #onReply(reply: ListReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ('problem' in reply) pending?.reject(new GatewayError(reply.problem.code, reply.problem.detail));
    else if ('error' in reply) pending?.reject(toInternalError(reply.error));
    else pending?.resolve(reply.result);
    this.#endIfIdle();
  }

  #onEnd(error: GatewayError): void {
    if (!this.#ended && !this.#retired) this.#lost.resolve(error);
    this.#ended ??= error;
    ListThread.#living.delete(this);
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}

function toEndError(cause: unknown): GatewayError {
  if ((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const detail = `The account list needs more than the ${LIST_HEAP_MB} MB that this process has for it. Give it more memory.`;
    return new GatewayError('overloaded', detail, { cause });
  }
  return toInternalError(cause);
}

const toInternalError = (cause: unknown) =>
  new GatewayError('internal-error', 'The thread of the account list failed; the log has the details.', { cause });

/** Small buffers share their memory with other data: only a copy is transferable. */
function toOwned(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
