import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { compressStream, toEncoding } from '../representation/negotiation.js';
import '../telemetry/request-fields.js';
import { readCacheDirectives } from '../snapshot/freshness.js';
import { SnapshotCache, type ServedSnapshot } from '../snapshot/snapshot-cache.js';
import type { Snapshot } from '../list/snapshot.js';
import { Downloads, toStream } from './downloads.js';
import { EncodedResponses, toEntityTag, type BuildJson, type EncodedResponse } from './encoded-responses.js';
import { MEDIA_TYPES } from './list-query.js';

/** Gets the snapshot that a request asks for, and sends responses built from one, with the headers that show its age. */
@Injectable()
export class Responder {
  readonly #freshMs: number;
  readonly #deadlineMs: number;

  constructor(
    private readonly snapshots: SnapshotCache,
    private readonly responses: EncodedResponses,
    private readonly downloads: Downloads,
    settings: Settings,
  ) {
    this.#freshMs = Math.min(settings.SNAPSHOT_FRESH_MS, settings.SNAPSHOT_MAX_AGE_MS);
    this.#deadlineMs = settings.REQUEST_DEADLINE_MS;
  }

  /**
   * Sends JSON; from memory, and without awaiting anything, if this URL was answered before from the same snapshot.
   * @throws GatewayError as `SnapshotCache.get`, and what `build` throws
   */
  sendJson(request: FastifyRequest, reply: FastifyReply, build: BuildJson): Promise<void> | undefined {
    const served = this.#serveCached(request);
    const response = served && this.responses.find(served, request.url, toEncoding(request.headers['accept-encoding']));
    if (!response) return this.#buildAndSend(request, reply, build, served);
    this.#send(request, reply, served, response);
    return undefined;
  }

  /**
   * Sends every match as a file.
   * @throws GatewayError as `SnapshotCache.get`; overloaded
   */
  async sendDownload(
    request: FastifyRequest,
    reply: FastifyReply,
    format: 'csv' | 'ndjson',
    build: (snapshot: Snapshot) => AsyncIterable<Buffer>,
  ): Promise<void> {
    const served = this.#serveCached(request) ?? (await this.#serveRefreshed(request));
    const { snapshot, stale } = served;
    const etag = toEntityTag([format, request.url, snapshot.digest, JSON.stringify([stale, snapshot.complete])]);
    if (matchesTag(request.headers['if-none-match'], etag)) {
      sendNotModified(request, reply, { ...this.toHeaders(served), etag });
      return;
    }
    const waitedFrom = performance.now();
    const waitMs = this.#deadlineMs - (waitedFrom - request.logFields.startedAt);
    const stream =
      request.method === 'HEAD' ? NOTHING() : await this.downloads.open(build(snapshot), request.signal, waitMs);
    const encoding = toEncoding(request.headers['accept-encoding']);
    reply
      .headers({
        ...this.toHeaders(afterWait(served, waitedFrom)),
        etag,
        'content-type': `${MEDIA_TYPES[format]}; charset=utf-8`,
        'content-disposition': `attachment; filename="accounts.${format}"`,
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      })
      .send(encoding === 'identity' ? stream : compressStream(stream, encoding));
  }

  /** The headers that describe the age of a response (docs/api.md#headers). `Age` is in whole seconds. */
  toHeaders(served: ServedSnapshot): Record<string, string> {
    const { snapshot, ageMs, stale } = served;
    const leftSeconds = Math.floor((this.#freshMs - ageMs) / 1000);
    return {
      age: String(Math.floor(ageMs / 1000)),
      'cache-control': `private, max-age=${stale ? 0 : Math.max(0, leftSeconds)}`,
      'cache-status': toCacheStatus(served, leftSeconds),
      'snapshot-as-of': snapshot.asOf,
      'snapshot-stale': String(stale),
      'snapshot-complete': String(snapshot.complete),
    };
  }

  async #buildAndSend(
    request: FastifyRequest,
    reply: FastifyReply,
    build: BuildJson,
    cached: ServedSnapshot | null,
  ): Promise<void> {
    const served = cached ?? (await this.#serveRefreshed(request));
    const encoding = toEncoding(request.headers['accept-encoding']);
    const waitedFrom = performance.now();
    const response = await this.responses.get(served, request.url, encoding, build);
    this.#send(request, reply, afterWait(served, waitedFrom), response);
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
    { etag, encoding, body }: EncodedResponse,
  ): void {
    const headers = this.toHeaders(served);
    headers['etag'] = etag;
    if (matchesTag(request.headers['if-none-match'], etag)) {
      sendNotModified(request, reply, headers);
      return;
    }
    headers['content-type'] = 'application/json; charset=utf-8';
    if (Buffer.isBuffer(body)) {
      if (encoding !== 'identity') headers['content-encoding'] = encoding;
      reply.headers(headers).send(body);
      return;
    }
    const streamEncoding = toEncoding(request.headers['accept-encoding']);
    const stream = toStream(body);
    if (streamEncoding !== 'identity') headers['content-encoding'] = streamEncoding;
    reply.headers(headers).send(streamEncoding === 'identity' ? stream : compressStream(stream, streamEncoding));
  }

  /** @throws GatewayError not-cached */
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

/** The snapshot grew older while the response waited or was built. */
const afterWait = (served: ServedSnapshot, from: number): ServedSnapshot => ({
  ...served,
  ageMs: served.ageMs + performance.now() - from,
});

const NOTHING = (): Readable => Readable.from([]);

function sendNotModified(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>): void {
  // with nothing at all, Fastify gives HEAD a length of 0, which is not that of the answer to GET (RFC 9110 §8.6)
  reply
    .code(304)
    .headers(headers)
    .send(request.method === 'HEAD' ? NOTHING() : undefined);
}

/** The handling of the request by this cache (RFC 9211): `detail` is the code of the failure that a stale answer hides. */
function toCacheStatus({ cache, failure }: ServedSnapshot, ttlSeconds: number): string {
  const outcome = cache === 'hit' ? 'hit' : `fwd=${cache}`;
  return `accounts-gateway; ${outcome}; ttl=${ttlSeconds}${failure === null ? '' : `; detail=${failure}`}`;
}

/** Weak comparison of If-None-Match (RFC 9110 §13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
