import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../snapshot/snapshot.js';
import { SnapshotCache, type ServedSnapshot } from '../snapshot/snapshot-cache.js';
import type { ChooseFormat } from './content-negotiation.js';
import { EncodedResponse, toEntityTag } from './encoded-response.js';
import { ResponseCache } from './response-cache.js';
import { Responder } from './responder.js';

/** A larger answer is not kept ready, but made as it is read. */
const MAX_READY_BYTES = 4 * 1024 * 1024;
const MAX_KNOWN_URLS = 5000;
const MAX_URL_LENGTH = 500;
const NO_DIRECTIVES = { noCache: false, onlyIfCached: false, maxAge: null };

/** An answer in JSON that many callers may get. */
interface CachedAnswer {
  /** The same for all requests that ask the same. */
  readonly key: string;
  /** How Accept is read; null when the address says JSON. */
  readonly choose: ChooseFormat | null;
  /** What stands before `snapshot` in the body, without the closing brace; asked for when it is not there yet. */
  readonly make: () => Promise<Made>;
}

interface Made {
  readonly parts: Iterable<Buffer>;
  readonly bytes: number;
}

/** Responses that are made once for each snapshot, and served from memory to all equal requests. */
@Injectable()
export class CachedResponses {
  readonly #cache = new ResponseCache();
  /** Answers that are being made, each for all who ask for it meanwhile. */
  readonly #making = new WeakMap<Snapshot, Map<string, Promise<Made>>>();
  /** Addresses that were found valid, and what they ask. */
  readonly #known = new LRUCache<string, Pick<CachedAnswer, 'key' | 'choose'>>({ max: MAX_KNOWN_URLS });

  constructor(
    private readonly snapshots: SnapshotCache,
    private readonly responder: Responder,
  ) {}

  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
    { key, choose, make }: CachedAnswer,
  ): Promise<void> {
    let response = this.#cache.ready(served, key);
    if (!response) {
      const { parts, bytes } = await this.#make(served.snapshot, key, make);
      if (bytes > MAX_READY_BYTES) {
        const { snapshot, stale } = served;
        const etag = toEntityTag([key, snapshot.digest, JSON.stringify([stale, snapshot.complete])]);
        const whole = concat(parts, [toEnd(served)]);
        this.responder.sendStream(request, reply, served, { format: 'json', etag, parts: whole });
        return;
      }
      response = this.#cache.add(served, key, (onGrown) => encode([...parts], served, onGrown));
    }
    this.#remember(request.raw.url, { key, choose });
    await this.responder.send(request, reply, served, response);
  }

  /** Answers a request whose address is known and whose answer is there and fresh; false leaves it to its route. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean {
    const { url = '', headers } = request.raw;
    const known = this.#known.get(url);
    if (!known || headers['cache-control'] !== undefined) return false;
    if (known.choose && known.choose(headers.accept) !== 'json') return false;
    const served = this.snapshots.getCached(NO_DIRECTIVES);
    const response = served && this.#cache.ready(served, known.key);
    return response ? this.responder.sendReady(request, reply, served, response) : false;
  }

  async #make(snapshot: Snapshot, key: string, make: () => Promise<Made>): Promise<Made> {
    const making = this.#making.get(snapshot) ?? new Map<string, Promise<Made>>();
    this.#making.set(snapshot, making);
    const made = making.get(key) ?? make().finally(() => making.delete(key));
    making.set(key, made);
    return made;
  }

  #remember(url: string | undefined, known: Pick<CachedAnswer, 'key' | 'choose'>): void {
    if (url === undefined || url.length > MAX_URL_LENGTH || this.#known.has(url)) return;
    this.#known.set(url, known);
  }
}

function encode(
  parts: readonly Buffer[],
  served: ServedSnapshot,
  onGrown: (response: EncodedResponse) => void,
): EncodedResponse {
  const { snapshot, stale } = served;
  // not of `asOf`, which changes while the data does not
  const etag = toEntityTag([...parts, JSON.stringify({ stale, complete: snapshot.complete })]);
  return new EncodedResponse(Buffer.concat([...parts, toEnd(served)]), etag, onGrown);
}

function toEnd({ snapshot: { asOf, complete }, stale }: ServedSnapshot): Buffer {
  return Buffer.from(`,"snapshot":${JSON.stringify({ asOf, stale, complete })}}`);
}

function* concat<T>(...lists: Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}
