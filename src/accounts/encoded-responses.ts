import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { compress, MIN_COMPRESSED_BYTES, type Compression, type Encoding } from '../representation/negotiation.js';
import type { Snapshot } from '../list/snapshot.js';
import type { ServedSnapshot } from '../snapshot/snapshot-cache.js';
import { nextTimeSlice } from '../time/time-slice.js';

const compressed = promisify(compress);

/** Memory for the encoded responses of one snapshot. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Larger bodies are neither joined nor cached. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Responses built concurrently: enough that a slow one does not block the others, few enough to block the thread only briefly. */
const MAX_BUILDING = 8;
/** Memory overhead of an entry, in addition to its bytes. */
const OVERHEAD_BYTES = 500;

/** A body in JSON up to, but without, its last property `snapshot` and the closing brace. */
export interface JsonBody {
  readonly parts: readonly Buffer[];
  readonly bytes: number;
}

/** The body with these properties; at least one. */
export function toJsonBody(properties: object): JsonBody {
  const json = Buffer.from(JSON.stringify(properties).slice(0, -1));
  return { parts: [json], bytes: json.length };
}

/** Builds the body of a response from the snapshot that is served. */
export type BuildJson = (served: ServedSnapshot) => Promise<JsonBody>;

export interface EncodedResponse {
  readonly etag: string;
  readonly encoding: Encoding;
  /** A Buffer, or the parts of a body that is too large for one. */
  readonly body: Buffer | readonly Buffer[];
}

/** Encoded responses of one snapshot; freed together with it. */
interface ResponseCache {
  readonly ready: LRUCache<string, EncodedResponse>;
  readonly pending: Map<string, Promise<EncodedResponse>>;
}

/** Encoded responses, each built once per snapshot. */
@Injectable()
export class EncodedResponses {
  readonly #caches = new WeakMap<Snapshot, ResponseCache>();
  readonly #building = pLimit(MAX_BUILDING);
  /** At most 2 at once, so that they never take every thread of Node's pool. */
  readonly #compressing = pLimit(2);

  /** The cached response for a URL, if it has been built. */
  find({ snapshot, stale }: ServedSnapshot, url: string, encoding: Encoding): EncodedResponse | undefined {
    return this.#caches.get(snapshot)?.ready.get(`${encoding} ${stale} ${url}`);
  }

  /** The response for a URL, from the cache or built once for all callers that ask for it meanwhile. */
  async get(served: ServedSnapshot, url: string, encoding: Encoding, build: BuildJson): Promise<EncodedResponse> {
    const found = this.find(served, url, encoding);
    if (found) return found;
    const { ready, pending } = this.#cacheOf(served.snapshot);
    const key = `${encoding} ${served.stale} ${url}`;
    let encoded = pending.get(key);
    if (!encoded) {
      encoded = (
        encoding === 'identity' ? this.#encode(served, url, build) : this.#compress(served, url, encoding, build)
      )
        .then((response) => {
          if (Buffer.isBuffer(response.body)) ready.set(key, response);
          return response;
        })
        .finally(() => pending.delete(key));
      pending.set(key, encoded);
    }
    return encoded;
  }

  #encode(served: ServedSnapshot, url: string, build: BuildJson): Promise<EncodedResponse> {
    return this.#building(async () => {
      // many different ones may be asked for at the same moment: other work runs between them
      await nextTimeSlice();
      return toResponse(served, url, await build(served));
    });
  }

  async #compress(
    served: ServedSnapshot,
    url: string,
    encoding: Compression,
    build: BuildJson,
  ): Promise<EncodedResponse> {
    const plain = await this.get(served, url, 'identity', build);
    const { etag, body } = plain;
    if (!Buffer.isBuffer(body) || body.length <= MIN_COMPRESSED_BYTES) return plain;
    return { etag, encoding, body: await this.#compressing(() => compressed(body, encoding)) };
  }

  #cacheOf(snapshot: Snapshot): ResponseCache {
    let cache = this.#caches.get(snapshot);
    if (!cache) {
      const sizeCalculation = ({ body }: EncodedResponse, key: string) => body.length + 2 * key.length + OVERHEAD_BYTES;
      cache = { ready: new LRUCache({ maxSize: MAX_BYTES, sizeCalculation }), pending: new Map() };
      this.#caches.set(snapshot, cache);
    }
    return cache;
  }
}

function toResponse({ snapshot, stale }: ServedSnapshot, url: string, { parts, bytes }: JsonBody): EncodedResponse {
  const { asOf, complete, digest } = snapshot;
  const all = [...parts, Buffer.from(`,"snapshot":${JSON.stringify({ asOf, stale, complete })}}`)];
  // not over `asOf`, which changes while the data does not
  const state = JSON.stringify({ stale, complete });
  return bytes > MAX_BODY_BYTES
    ? { etag: toEntityTag([url, digest, state]), encoding: 'identity', body: all }
    : { etag: toEntityTag([...parts, state]), encoding: 'identity', body: Buffer.concat(all) };
}

/** A weak entity tag (RFC 9110 §8.8.3): the same for the same data, whichever instance has it. */
export function toEntityTag(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}
