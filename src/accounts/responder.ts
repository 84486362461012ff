import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ListEnded } from '../snapshot/list-thread.js';
import type { Export, Query } from '../list/queries.js';
import { compressStream, toEncoding, type Encoding } from '../representation/negotiation.js';
import { readCacheDirectives, toFreshMs } from '../cache/freshness.js';
import { CallerLeft, SnapshotCache, type ServedSnapshot } from '../cache/snapshot-cache.js';
import '../telemetry/request-fields.js';
import { afterWait, matchesTag, toCacheHeaders, toExportTag } from './cache-headers.js';
import { Downloads } from './downloads.js';
import { EncodedResponses, toFacts, type EncodedResponse } from './encoded-responses.js';
import { MEDIA_TYPES } from './list-query.js';

const RETRY_AFTER_MS = 1000;
/** Time for the answer itself, for a caller whose refresh came just before the deadline. */
const MIN_ANSWER_MS = 300;
/** Long documents that are compressed at once; further ones are sent uncompressed. */
const MAX_COMPRESSED_STREAMS = 2;

/** Gets the snapshot that a request asks for, and sends responses built from one, with the headers that show its age. */
@Injectable()
export class Responder {
  readonly #freshMs: number;
  readonly #deadlineMs: number;
  #compressedStreams = 0;

  constructor(
    private readonly snapshots: SnapshotCache,
    private readonly responses: EncodedResponses,
    private readonly downloads: Downloads,
    private readonly settings: Settings,
  ) {
    this.#freshMs = toFreshMs(settings);
    this.#deadlineMs = settings.REQUEST_DEADLINE_MS;
  }

  /**
   * Sends the answer as JSON, from memory if the query was answered before from the same snapshot.
   * @throws GatewayError as `SnapshotCache.get`; account-not-found; overloaded
   */
  async sendJson(request: FastifyRequest, reply: FastifyReply, query: Query): Promise<void> {
    const encoding = toEncoding(request.headers['accept-encoding']);
    await this.#withList(request, async (served) => {
      const waitedFrom = performance.now();
      const found = this.responses.find(served, query, encoding);
      const response = found ?? (await this.#ask(request, served, query, encoding));
      if (response === null) throw this.#accountNotFound(served);
      // a long document is not begun for a caller who has it
      const isKnown = matchesTag(request.headers['if-none-match'], response.etag);
      const body = response.body ?? (isKnown ? NOTHING() : await this.#open(request, served, query));
      this.#send(request, reply, afterWait(served, waitedFrom), response, body);
    });
  }

  /**
   * Sends every match as a file.
   * @throws GatewayError as `SnapshotCache.get`; overloaded
   */
  async sendExport(request: FastifyRequest, reply: FastifyReply, asked: Export): Promise<void> {
    await this.#withList(request, async (served) => {
      const etag = toExportTag(served, JSON.stringify(asked));
      if (matchesTag(request.headers['if-none-match'], etag)) {
        sendNotModified(request, reply, { ...toCacheHeaders(served, this.#freshMs), etag });
        return;
      }
      const waitedFrom = performance.now();
      const stream = await this.#open(request, served, asked);
      const headers: Record<string, string> = {
        ...toCacheHeaders(afterWait(served, waitedFrom), this.#freshMs),
        etag,
        'content-type': `${MEDIA_TYPES[asked.kind]}; charset=utf-8`,
        'content-disposition': `attachment; filename="accounts.${asked.kind}"`,
      };
      this.#sendStream(request, reply, headers, stream);
    });
  }

  /** The response, within the request's deadline: the list may have much to answer. @throws GatewayError overloaded */
  async #ask(request: FastifyRequest, served: ServedSnapshot, query: Query, encoding: Encoding) {
    const deadline = AbortSignal.timeout(Math.max(MIN_ANSWER_MS, this.#leftMs(request)));
    try {
      return await this.responses.get(served, query, encoding, AbortSignal.any([request.signal, deadline]));
    } catch (error) {
      if (!deadline.aborted) throw error;
      const detail = `The answer was not ready within ${this.#deadlineMs} ms (REQUEST_DEADLINE_MS).`;
      throw new GatewayError('overloaded', detail, { retryAfterMs: RETRY_AFTER_MS });
    }
  }

  /** Uses the snapshot for this request; once more with the one cached then, if its list was replaced and ended meanwhile. */
  async #withList(request: FastifyRequest, use: (served: ServedSnapshot) => Promise<void>): Promise<void> {
    const useOnce = async () => use(this.#serveCached(request) ?? (await this.#serveRefreshed(request)));
    try {
      await useOnce().catch((error: unknown) => {
        if (!(error instanceof ListEnded)) throw error;
        return useOnce();
      });
    } catch (error) {
      throw request.signal.aborted ? new CallerLeft() : error;
    }
  }

  /** A long document in pieces, within the request's deadline; nothing for HEAD. */
  #open(request: FastifyRequest, served: ServedSnapshot, asked: Query | Export): Promise<Readable> {
    if (request.method === 'HEAD') return Promise.resolve(NOTHING());
    const { snapshot } = served;
    const facts = toFacts(served, this.settings);
    const waitMs = this.#leftMs(request);
    return this.downloads.open(
      snapshot,
      (signal) => snapshot.list.pieces(asked, facts, signal),
      request.signal,
      waitMs,
    );
  }

  /** Milliseconds until the deadline of a request. */
  #leftMs({ logFields }: FastifyRequest): number {
    return Math.max(0, Math.ceil(this.#deadlineMs - (performance.now() - logFields.startedAt)));
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
    { etag, encoding }: EncodedResponse,
    body: Buffer | Readable,
  ): void {
    const headers = toCacheHeaders(served, this.#freshMs);
    headers['etag'] = etag;
    if (matchesTag(request.headers['if-none-match'], etag)) {
      sendNotModified(request, reply, headers);
      return;
    }
    headers['content-type'] = 'application/json; charset=utf-8';
    if (!Buffer.isBuffer(body)) {
      this.#sendStream(request, reply, headers, body);
      return;
    }
    if (encoding !== 'identity') headers['content-encoding'] = encoding;
    reply.headers(headers).send(body);
  }

  /** Sends a long body, compressed on the way if the caller accepts it and not too many are. */
  #sendStream(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>, stream: Readable): void {
    const encoding = toEncoding(request.headers['accept-encoding']);
    if (encoding === 'identity' || this.#compressedStreams >= MAX_COMPRESSED_STREAMS) {
      reply.headers(headers).send(stream);
      return;
    }
    this.#compressedStreams += 1;
    stream.once('close', () => (this.#compressedStreams -= 1));
    headers['content-encoding'] = encoding;
    reply.headers(headers).send(compressStream(stream, encoding));
  }

  #accountNotFound(served: ServedSnapshot): GatewayError {
    return new GatewayError('account-not-found', 'The current snapshot has no account with this id.', {
      headers: { ...toCacheHeaders(served, this.#freshMs), 'cache-control': 'no-store' },
    });
  }

  #serveCached(request: FastifyRequest): ServedSnapshot | null {
    const served = this.snapshots.getCached(readCacheDirectives(request.headers['cache-control']));
    if (served) noteCache(request, served);
    return served;
  }

  async #serveRefreshed(request: FastifyRequest): Promise<ServedSnapshot> {
    const served = await this.snapshots.get(readCacheDirectives(request.headers['cache-control']), request);
    noteCache(request, served);
    return served;
  }
}

function noteCache({ logFields }: FastifyRequest, { cache, stale }: ServedSnapshot): void {
  logFields.cache = stale ? 'stale' : cache;
}

const NOTHING = (): Readable => Readable.from([]);

function sendNotModified(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>): void {
  // with nothing at all, Fastify gives HEAD a length of 0, which is not that of the answer to GET (RFC 9110 §8.6)
  reply
    .code(304)
    .headers(headers)
    .send(request.method === 'HEAD' ? NOTHING() : undefined);
}
