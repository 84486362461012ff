import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import '../logging/request-fields.js';
import { CallerLeft, SnapshotCache, type ServedSnapshot } from '../snapshot/snapshot-cache.js';
import { Turns } from '../turns.js';
import { createBodyStream } from './body-stream.js';
import { readCacheDirectives } from './cache-directives.js';
import { MEDIA_TYPES, toEncoding } from './content-negotiation.js';
import type { Encoded, EncodedResponse } from './encoded-response.js';
import type { Format } from './list-query.js';

/** So many bodies are compressed while they are read; each takes up to 2 MB for it. Further ones go as they are. */
const MAX_COMPRESSED_STREAMS = 32;

interface StreamedBody {
  readonly format: Format;
  readonly etag: string;
  readonly parts: Iterable<Buffer>;
}

/** Gets the snapshot that a request asks for, and sends what was made of it with the headers that tell its age. */
@Injectable()
export class Responder {
  readonly #freshMs: number;
  #compressedStreams = 0;

  constructor(
    private readonly snapshots: SnapshotCache,
    settings: Settings,
    private readonly turns: Turns,
  ) {
    this.#freshMs = settings.SNAPSHOT_FRESH_MS;
  }

  /** @throws GatewayError as `SnapshotCache.get` */
  async serve(request: FastifyRequest): Promise<ServedSnapshot> {
    const wanted = readCacheDirectives(request.headers['cache-control']);
    const held = this.snapshots.getCached(wanted);
    if (held) return held;
    const { signal } = request;
    const served = await this.snapshots.get(wanted, {
      signal,
      span: request.logFields.span,
      onRefresh: (refreshId) => {
        request.logFields.refreshId = refreshId;
      },
    });
    // all who waited for a reading are let go at the same moment
    await this.turns.next();
    if (signal.aborted) throw new CallerLeft();
    return served;
  }

  /** Headers for an error that was found in a snapshot: its reader can tell how old the finding is. */
  toErrorHeaders(served: ServedSnapshot): Record<string, string> {
    return { ...toSnapshotHeaders(served, this.#freshMs), 'cache-control': 'no-store' };
  }

  async send(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, response: EncodedResponse) {
    const encoded = await response.as(toEncoding(request.headers['accept-encoding']));
    this.#send(request, reply, served, response.etag, encoded);
  }

  /** Sends what is there already; false when it has yet to be made in the form that the caller accepts. */
  sendReady(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, response: EncodedResponse): boolean {
    const encoded = response.ready(toEncoding(request.headers['accept-encoding']));
    if (!encoded) return false;
    this.#send(request, reply, served, response.etag, encoded);
    return true;
  }

  sendStream(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, body: StreamedBody): void {
    if (this.#isNotModified(request, reply, served, body.etag)) return;
    const mayCompress = this.#compressedStreams < MAX_COMPRESSED_STREAMS;
    const encoding = mayCompress ? toEncoding(request.headers['accept-encoding']) : 'identity';
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    if (body.format !== 'json') {
      reply.header('content-disposition', `attachment; filename="accounts.${body.format}"`);
    }
    reply.header('content-type', `${MEDIA_TYPES[body.format]}; charset=utf-8`);
    if (request.method === 'HEAD') {
      reply.send(Readable.from([]));
      return;
    }
    const compressed = encoding === 'identity' ? 0 : 1;
    this.#compressedStreams += compressed;
    const stream = createBodyStream(body.parts, encoding, this.turns);
    stream.once('close', () => {
      this.#compressedStreams -= compressed;
    });
    reply.send(stream);
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
    etag: string,
    { encoding, body }: Encoded,
  ): void {
    if (this.#isNotModified(request, reply, served, etag)) return;
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }

  /** Sets the headers that all answers have; true when the caller holds the same data, and has been told so. */
  #isNotModified(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, etag: string): boolean {
    const { logFields } = request;
    logFields.cache = served.stale ? 'stale' : served.cache;
    if (served.refreshId) logFields.refreshId = served.refreshId;
    const headers = toSnapshotHeaders(served, this.#freshMs);
    headers['etag'] = etag;
    reply.headers(headers);
    if (!matchesTag(request.headers['if-none-match'], etag)) return false;
    // with nothing at all, Fastify says for HEAD that the length is 0, which is that of no answer to GET (RFC 9110 §8.6)
    reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined);
    return true;
  }
}

/** The headers by which an answer tells its age (docs/api.md#headers). Age in whole seconds. */
function toSnapshotHeaders(served: ServedSnapshot, freshMs: number): Record<string, string> {
  const { snapshot, ageMs, stale } = served;
  const leftSeconds = Math.floor((freshMs - ageMs) / 1000);
  return {
    age: String(Math.floor(ageMs / 1000)),
    'cache-control': `private, max-age=${stale ? 0 : Math.max(0, leftSeconds)}`,
    'cache-status': toCacheStatus(served, leftSeconds),
    'snapshot-as-of': snapshot.asOf,
    'snapshot-stale': String(stale),
    'snapshot-complete': String(snapshot.complete),
    vary: 'Accept, Accept-Encoding, Origin',
  };
}

/** How this cache handled the request (RFC 9211): `detail` is the code of the failure that a stale answer hides. */
function toCacheStatus({ cache, collapsed, failure }: ServedSnapshot, ttlSeconds: number): string {
  const outcome = cache === 'hit' ? 'hit' : `fwd=${cache}${collapsed ? '; collapsed' : ''}`;
  return `accounts-gateway; ${outcome}; ttl=${ttlSeconds}${failure === null ? '' : `; detail=${failure}`}`;
}

/** Weak comparison of If-None-Match (RFC 9110 §13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
