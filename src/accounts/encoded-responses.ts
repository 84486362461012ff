import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { expiresAt } from '../cache/freshness.js';
import type { ServedSnapshot } from '../cache/snapshot-service.js';
import { Settings } from '../config/settings.js';
import type { SnapshotFacts } from '../list/document-schemas.js';
import type { Query } from '../list/queries.js';
import { compress, MIN_COMPRESSED_BYTES, type Compression, type Encoding } from '../representation/negotiation.js';
import type { Snapshot } from '../snapshot/snapshot-source.js';
import { orAborted } from '../time/deadline.js';

/** Memory for the encoded responses of one snapshot. */
const MAX_BYTES = 32 * 1024 * 1024;
const OVERHEAD_BYTES = 500;
/** At most 2 at once, so that they never occupy every thread in Node's pool. */
const MAX_COMPRESSING = 2;
/** Beyond, responses are sent uncompressed. */
const MAX_WAITING_TO_COMPRESS = 16;

export interface EncodedResponse {
  readonly headers: {
    readonly etag: string;
    readonly 'content-type': string;
    readonly 'content-encoding'?: Compression;
  };
  /** Null for a document that is too large to keep; it is sent in pieces. */
  readonly body: Buffer | null;
}

/** Shared by all callers who wait for it; canceled when the last of them leaves. */
interface Building {
  readonly response: Promise<EncodedResponse | null>;
  readonly end: AbortController;
  callers: number;
}

/** Freed together with their snapshot. */
interface ResponsesOfSnapshot {
  readonly ready: LRUCache<string, EncodedResponse>;
  readonly building: Map<string, Building>;
}

type Keys = Readonly<Record<'fresh' | 'stale', Readonly<Record<Encoding, string>>>>;

/** JSON responses as they are sent. Equal queries of a snapshot share one while it is kept, whatever their URLs. */
@Injectable()
export class EncodedResponses {
  readonly #bySnapshot = new WeakMap<Snapshot, ResponsesOfSnapshot>();
  /** A repeated query of the list is the object that `readQuery` cached. */
  readonly #keys = new WeakMap<Query, Keys>();
  readonly #compressing = pLimit(MAX_COMPRESSING);

  constructor(private readonly settings: Settings) {}

  /**
   * At once from memory, or built once for all callers who wait. Null for an account that is not in the list.
   * @param toSignal creates the caller's signal, if the caller must wait
   * @throws as `ListThread.document`; the reason of the signal when it aborts
   */
  get(
    served: ServedSnapshot,
    query: Query,
    encoding: Encoding,
    toSignal: () => AbortSignal,
  ): EncodedResponse | Promise<EncodedResponse | null> {
    const responses = this.#responsesOf(served.snapshot);
    const key = this.#keysOf(query)[served.stale ? 'stale' : 'fresh'][encoding];
    const build = async (signal: AbortSignal) => {
      const response = await (encoding === 'identity'
        ? this.#ask(served, query, signal)
        : this.#compress(served, query, encoding, signal));
      // a response left uncompressed because too many waited is not kept as the compressed one
      const isFinal =
        encoding === 'identity' || !response || isSmall(response) || 'content-encoding' in response.headers;
      if (response && isFinal) responses.ready.set(key, response);
      return response;
    };
    return responses.ready.get(key) ?? join(responses.building, key, build, toSignal());
  }

  async #ask(served: ServedSnapshot, query: Query, signal: AbortSignal): Promise<EncodedResponse | null> {
    const document = await served.snapshot.list.document(query, toFacts(served, this.settings), signal);
    if (document === null) return null;
    const { digest, body } = document;
    return {
      headers: { etag: `W/"${digest}"`, 'content-type': 'application/json; charset=utf-8' },
      body: body && Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    };
  }

  async #compress(
    served: ServedSnapshot,
    query: Query,
    encoding: Compression,
    signal: AbortSignal,
  ): Promise<EncodedResponse | null> {
    const plain = await this.get(served, query, 'identity', () => signal);
    if (plain === null || plain.body === null || isSmall(plain)) return plain;
    if (this.#compressing.pendingCount >= MAX_WAITING_TO_COMPRESS) return plain;
    const { headers, body } = plain;
    return this.#compressing(async () => {
      signal.throwIfAborted();
      return { headers: { ...headers, 'content-encoding': encoding }, body: await compress(body, encoding) };
    });
  }

  #keysOf(query: Query): Keys {
    const known = this.#keys.get(query);
    if (known) return known;
    const keys = toKeys(JSON.stringify(query));
    this.#keys.set(query, keys);
    return keys;
  }

  #responsesOf(snapshot: Snapshot): ResponsesOfSnapshot {
    const known = this.#bySnapshot.get(snapshot);
    if (known) return known;
    const sizeCalculation = ({ body }: EncodedResponse, key: string) =>
      (body?.length ?? 0) + 2 * key.length + OVERHEAD_BYTES;
    const created = {
      ready: new LRUCache<string, EncodedResponse>({ maxSize: MAX_BYTES, sizeCalculation }),
      building: new Map<string, Building>(),
    };
    this.#bySnapshot.set(snapshot, created);
    return created;
  }
}

function toKeys(query: string): Keys {
  const of = (age: string) => ({
    br: `br ${age} ${query}`,
    gzip: `gzip ${age} ${query}`,
    identity: `identity ${age} ${query}`,
  });
  return { fresh: of('fresh'), stale: of('stale') };
}

async function join(
  building: Map<string, Building>,
  key: string,
  build: (signal: AbortSignal) => Building['response'],
  caller: AbortSignal,
): Promise<EncodedResponse | null> {
  caller.throwIfAborted();
  const work = building.get(key) ?? begin(build);
  building.set(key, work);
  work.callers += 1;
  try {
    return await orAborted(work.response, caller);
  } finally {
    work.callers -= 1;
    // the last caller: the response is done, or nobody is waiting for it
    if (work.callers === 0) {
      building.delete(key);
      work.end.abort(caller.reason);
    }
  }
}

function begin(build: (signal: AbortSignal) => Building['response']): Building {
  const end = new AbortController();
  return { response: build(end.signal), end, callers: 0 };
}

const isSmall = ({ body }: EncodedResponse): boolean => body !== null && body.length <= MIN_COMPRESSED_BYTES;

export const toFacts = (
  { snapshot, stale }: ServedSnapshot,
  limits: Pick<Settings, 'SNAPSHOT_MAX_AGE_MS'>,
): SnapshotFacts => ({
  asOf: snapshot.asOf,
  expiresAt: expiresAt(snapshot, limits),
  stale,
  complete: snapshot.complete,
});
