import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toAgeMs } from '../cache/cached-snapshot.js';
import { readCacheDirectives } from '../cache/freshness.js';
import { SnapshotService, type ServedSnapshot } from '../cache/snapshot-service.js';
import { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Export, Query } from '../list/queries.js';
import { compressStream, toEncoding } from '../representation/negotiation.js';
import { ListEnded } from '../snapshot/list-thread.js';
import '../telemetry/activity.js';
import { Clock } from '../time/clock.js';
import { matchesTag, toCacheHeaders, toExportTag } from './cache-headers.js';
import { Downloads } from './downloads.js';
import { EncodedResponses, toFacts, type EncodedResponse } from './encoded-responses.js';
import { MEDIA_TYPES } from './list-query.js';

const RETRY_AFTER_MS = 1000;
/** Time to build the response for a caller whose refresh finished just before the deadline. */
const MIN_BUILD_MS = 300;
/** Long documents and downloads compressed at once; further ones are sent uncompressed. */
const MAX_COMPRESSED_STREAMS = 2;

export type Sent = void | Promise<void>;

interface Document {
  readonly headers: { readonly etag: string } & Readonly<Record<string, string>>;
  /** The bytes, or the document to send in pieces. */
  readonly body: Buffer | Query | Export;
}

@Injectable()
export class Responder {
  #compressedStreams = 0;

  constructor(
    private readonly snapshots: SnapshotService,
    private readonly responses: EncodedResponses,
    private readonly downloads: Downloads,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends the response as JSON, at once if it is in memory.
   * @throws GatewayError as `SnapshotService.get` and `ListThread.document`; account-not-found; overloaded; request-timeout
   */
  sendJson(request: FastifyRequest, reply: FastifyReply, query: Query): Sent {
    const encoding = toEncoding(request.headers['accept-encoding']);
    const toSignal = () => {
      const deadline = AbortSignal.timeout(Math.max(MIN_BUILD_MS, this.#leftMs(request)));
      return AbortSignal.any([request.callerLeft, deadline]);
    };
    return this.#withSnapshot(request, (served) => {
      const send = (response: EncodedResponse | null) => {
        if (response === null) throw this.#accountNotFound(served);
        const { headers, body } = response;
        return this.#reply(request, reply, served, { headers, body: body ?? query });
      };
      const response = this.responses.get(served, query, encoding, toSignal);
      return response instanceof Promise ? response.then(send) : send(response);
    });
  }

  /** Sends every match as a file. @throws as `sendJson`, but not account-not-found */
  sendExport(request: FastifyRequest, reply: FastifyReply, asked: Export): Sent {
    return this.#withSnapshot(request, (served) => {
      const headers = {
        etag: toExportTag(served, JSON.stringify(asked)),
        'content-type': `${MEDIA_TYPES[asked.kind]}; charset=utf-8`,
        'content-disposition': `attachment; filename="accounts.${asked.kind}"`,
      };
      return this.#reply(request, reply, served, { headers, body: asked });
    });
  }

  /** Retries once if the list was replaced and ended during the request. */
  #withSnapshot(request: FastifyRequest, use: (served: ServedSnapshot) => Sent): Sent {
    const wanted = readCacheDirectives(request.headers['cache-control']);
    const useServed = (served: ServedSnapshot) => {
      request.logFields.cache = served.stale ? 'stale' : served.cache;
      return use(served);
    };
    const useOnce = () => {
      const served = this.snapshots.get(wanted, request);
      return served instanceof Promise ? served.then(useServed) : useServed(served);
    };
    return useOnce()
      ?.catch((error: unknown) => {
        if (error instanceof ListEnded) return useOnce();
        throw error;
      })
      .catch((error: unknown) => {
        throw this.#toFailure(error, request);
      });
  }

  /** An abort as a problem: the caller's, or the deadline of `sendJson`. Any other error is unchanged. */
  #toFailure(error: unknown, { callerLeft }: FastifyRequest): unknown {
    if (callerLeft.aborted) return new GatewayError('request-timeout', 'The caller has left.');
    if (!(error instanceof DOMException && error.name === 'TimeoutError')) return error;
    const detail = `The answer was not ready within ${this.settings.REQUEST_DEADLINE_MS} ms (REQUEST_DEADLINE_MS).`;
    return new GatewayError('overloaded', detail, { retryAfterMs: RETRY_AFTER_MS });
  }

  /** 304 if the caller already has the response, else its body, in pieces if it is long or an export. */
  #reply(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, document: Document): Sent {
    const { headers, body } = document;
    if (matchesTag(request.headers['if-none-match'], headers.etag)) {
      reply.code(304).headers({ ...this.#cacheHeaders(served), etag: headers.etag });
      // without a stream, Fastify gives HEAD a length of 0, which is not the length of the GET response (RFC 9110 §8.6)
      reply.send(request.method === 'HEAD' ? Readable.from([]) : undefined);
      return undefined;
    }
    if (Buffer.isBuffer(body)) {
      reply.headers({ ...this.#cacheHeaders(served), ...headers }).send(body);
      return undefined;
    }
    return this.#open(request, served, body).then((stream) =>
      this.#sendStream(request, reply, { ...this.#cacheHeaders(served), ...headers }, stream),
    );
  }

  /** A long document in pieces, within the request's deadline; nothing for HEAD. */
  async #open(request: FastifyRequest, served: ServedSnapshot, asked: Query | Export): Promise<Readable> {
    if (request.method === 'HEAD') return Readable.from([]);
    const { snapshot } = served;
    const facts = toFacts(served, this.settings);
    const begin = (signal: AbortSignal) => snapshot.list.pieces(asked, facts, signal);
    return this.downloads.open(begin, request.callerLeft, this.#leftMs(request));
  }

  #sendStream(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>, stream: Readable): void {
    const encoding = toEncoding(request.headers['accept-encoding']);
    if (encoding === 'identity' || this.#compressedStreams >= MAX_COMPRESSED_STREAMS) {
      reply.headers(headers).send(stream);
      return;
    }
    this.#compressedStreams += 1;
    stream.once('close', () => (this.#compressedStreams -= 1));
    reply.headers({ ...headers, 'content-encoding': encoding }).send(compressStream(stream, encoding));
  }

  #leftMs({ logFields }: FastifyRequest): number {
    return Math.max(0, Math.ceil(this.settings.REQUEST_DEADLINE_MS - (performance.now() - logFields.startedAt)));
  }

  /** At the moment of sending. */
  #cacheHeaders(served: ServedSnapshot): Record<string, string> {
    return toCacheHeaders(served, toAgeMs(this.clock, served.snapshot), this.settings);
  }

  #accountNotFound(served: ServedSnapshot): GatewayError {
    return new GatewayError('account-not-found', 'The current snapshot has no account with this id.', {
      headers: { ...this.#cacheHeaders(served), 'cache-control': 'no-store' },
    });
  }
}
