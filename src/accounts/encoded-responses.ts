import { promisify } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { SnapshotFacts } from '../list/answer-schemas.js';
import type { Query } from '../list/queries.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { compress, MIN_COMPRESSED_BYTES, type Compression, type Encoding } from '../representation/negotiation.js';
import { expiresAt } from '../cache/cached-snapshot.js';
import type { ServedSnapshot } from '../cache/snapshot-cache.js';
import { Settings } from '../config/settings.js';
import { SharedWork } from './shared-work.js';

const compressed = promisify(compress);

type AgeLimit = Pick<Settings, 'SNAPSHOT_MAX_AGE_MS'>;

/** Memory for the encoded responses of one snapshot. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Memory overhead of an entry, in addition to its bytes. */
const OVERHEAD_BYTES = 500;
/** At most 2 at once, so that they never take every thread of Node's pool. */
const MAX_COMPRESSING = 2;
/** Where more wait, further responses are sent uncompressed. */
const MAX_WAITING_TO_COMPRESS = 16;

export interface EncodedResponse {
  readonly etag: string;
  readonly encoding: Encoding;
  /** Null for a document that is too large to be kept, and is sent in pieces. */
  readonly body: Buffer | null;
}

/** The responses of one snapshot; freed together with it. */
interface ResponsesOfSnapshot {
  readonly ready: LRUCache<string, EncodedResponse>;
  readonly underWay: SharedWork<EncodedResponse | null>;
}

/** JSON responses as they are sent, each built once for a snapshot, whatever address asked for it. */
@Injectable()
export class EncodedResponses {
  readonly #bySnapshot = new WeakMap<Snapshot, ResponsesOfSnapshot>();
  readonly #compressing = pLimit(MAX_COMPRESSING);

  constructor(@Inject(Settings) private readonly limits: AgeLimit) {}

  /** The response, if it has been built. */
  find(served: ServedSnapshot, query: Query, encoding: Encoding): EncodedResponse | undefined {
    return this.#bySnapshot.get(served.snapshot)?.ready.get(toKey(served, query, encoding));
  }

  /**
   * The response, from memory or built once for all callers who wait for it. Null for an account that is not in the list.
   * @throws as `ListThread.answer`; the reason of `caller` when it aborts. What nobody waits for any longer is not begun.
   */
  async get(
    served: ServedSnapshot,
    query: Query,
    encoding: Encoding,
    caller: AbortSignal,
  ): Promise<EncodedResponse | null> {
    const { ready, underWay } = this.#responsesOf(served.snapshot);
    const key = toKey(served, query, encoding);
    const found = ready.get(key);
    if (found) return found;
    return underWay.join(key, caller, async (signal) => {
      const response = await (encoding === 'identity'
        ? this.#ask(served, query, signal)
        : this.#compress(served, query, encoding, signal));
      // one that was not compressed because too many waited is not kept as the compressed one
      if (response && (response.encoding === encoding || isSmall(response))) ready.set(key, response);
      return response;
    });
  }

  async #ask(served: ServedSnapshot, query: Query, signal: AbortSignal): Promise<EncodedResponse | null> {
    const answer = await served.snapshot.list.answer(query, toFacts(served, this.limits), signal);
    if (answer === null) return null;
    const { digest, body } = answer;
    return {
      etag: `W/"${digest}"`,
      encoding: 'identity',
      body: body && Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    };
  }

  async #compress(
    served: ServedSnapshot,
    query: Query,
    encoding: Compression,
    signal: AbortSignal,
  ): Promise<EncodedResponse | null> {
    const plain = await this.get(served, query, 'identity', signal);
    if (plain === null || plain.body === null || isSmall(plain)) return plain;
    if (this.#compressing.pendingCount >= MAX_WAITING_TO_COMPRESS) return plain;
    const { etag, body } = plain;
    return this.#compressing(async () => {
      signal.throwIfAborted();
      return { etag, encoding, body: await compressed(body, encoding) };
    });
  }

  #responsesOf(snapshot: Snapshot): ResponsesOfSnapshot {
    const known = this.#bySnapshot.get(snapshot);
    if (known) return known;
    const sizeCalculation = ({ body }: EncodedResponse, key: string) =>
      (body?.length ?? 0) + 2 * key.length + OVERHEAD_BYTES;
    const created = {
      ready: new LRUCache<string, EncodedResponse>({ maxSize: MAX_BYTES, sizeCalculation }),
      underWay: new SharedWork<EncodedResponse | null>(),
    };
    this.#bySnapshot.set(snapshot, created);
    return created;
  }
}

const isSmall = ({ body }: EncodedResponse): boolean => body !== null && body.length <= MIN_COMPRESSED_BYTES;

/** The texts of queries. ValidationPipe gives the same object for the same query string. */
const texts = new WeakMap<Query, string>();

function toText(query: Query): string {
  const known = texts.get(query);
  if (known !== undefined) return known;
  const text = JSON.stringify(query);
  texts.set(query, text);
  return text;
}

const toKey = ({ stale }: ServedSnapshot, query: Query, encoding: Encoding): string =>
  `${encoding} ${stale} ${toText(query)}`;

/** The property `snapshot` of a response. */
export const toFacts = ({ snapshot, stale }: ServedSnapshot, limits: AgeLimit): SnapshotFacts => ({
  asOf: snapshot.asOf,
  expiresAt: expiresAt(snapshot, limits),
  stale,
  complete: snapshot.complete,
});
