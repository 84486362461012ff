import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { readCacheDirectives } from './cache-directives.js';
import { createAccountStream, type StreamFormat } from './account-stream.js';
import { toEncoding } from './encoding.js';
import { MEDIA_TYPES } from './media-type.js';
import type { Encoded, Rendered } from './rendered.js';
import { toSnapshotHeaders } from './snapshot-headers.js';
import { SnapshotKeeper, type ServedSnapshot } from './snapshot-keeper.js';

/** What the door keeps of a request. */
export type RequestState = FastifyRequest['state'];

const JSON_TYPE = `${MEDIA_TYPES.json}; charset=utf-8`;

/** Gets the snapshot that a request wishes for, and sends answers made of it with the headers that tell their age. */
@Injectable()
export class Responder {
  constructor(
    private readonly keeper: SnapshotKeeper,
    private readonly settings: Settings,
  ) {}

  /** @throws GatewayError as `SnapshotKeeper.get` */
  async serve(request: FastifyRequest): Promise<ServedSnapshot> {
    const served = await this.keeper.get(readCacheDirectives(request.headers['cache-control']), (readingId, leave) => {
      request.state.readingId = readingId;
      request.state.onLeft = leave;
    });
    noteServed(request.state, served);
    return served;
  }

  /** Headers for an error that was found in a snapshot: whoever reads it can tell how old the finding is. */
  toErrorHeaders(served: ServedSnapshot): Record<string, string> {
    return { ...toSnapshotHeaders(served, this.settings.snapshot.freshMs), 'cache-control': 'no-store' };
  }

  async send(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, rendered: Rendered) {
    if (this.#head(request, reply, served, rendered.etag)) return;
    sendEncoded(reply, await rendered.as(toEncoding(request.headers['accept-encoding'])));
  }

  /** Sends an answer that is there already; false when it has yet to be made in the form that the caller accepts. */
  sendReady(state: RequestState, response: ServerResponse, served: ServedSnapshot, rendered: Rendered): boolean {
    const { headers: asked, method } = state.request;
    const encoded = rendered.ready(toEncoding(asked['accept-encoding']));
    if (!encoded) return false;
    noteServed(state, served);
    const headers = Object.assign(state.headers, toSnapshotHeaders(served, this.settings.snapshot.freshMs));
    headers['etag'] = rendered.etag;
    if (matchesTag(asked['if-none-match'], rendered.etag)) {
      response.writeHead(304, headers).end();
      return true;
    }
    if (encoded.encoding !== 'identity') headers['content-encoding'] = encoded.encoding;
    headers['content-type'] = JSON_TYPE;
    headers['content-length'] = encoded.body.length;
    response.writeHead(200, headers);
    if (method === 'HEAD') response.end();
    else response.end(encoded.body);
    return true;
  }

  sendStream(
    request: FastifyRequest,
    reply: FastifyReply,
    served: ServedSnapshot,
    stream: { readonly format: StreamFormat; readonly positions: Uint32Array; readonly etag: string },
  ): void {
    if (this.#head(request, reply, served, stream.etag)) return;
    const encoding = toEncoding(request.headers['accept-encoding']);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply
      .header('content-type', `${MEDIA_TYPES[stream.format]}; charset=utf-8`)
      .header('content-disposition', `attachment; filename="accounts.${stream.format}"`)
      .send(
        request.method === 'HEAD'
          ? Readable.from([])
          : createAccountStream(served.snapshot, stream.positions, stream.format, encoding),
      );
  }

  /** Sets the headers that all answers have; true when the caller holds the same data, and has been told so. */
  #head(request: FastifyRequest, reply: FastifyReply, served: ServedSnapshot, etag: string): boolean {
    reply.headers(toSnapshotHeaders(served, this.settings.snapshot.freshMs)).header('etag', etag);
    if (!matchesTag(request.headers['if-none-match'], etag)) return false;
    reply.code(304).send();
    return true;
  }
}

function noteServed(state: RequestState, { stale, cache, readingId }: ServedSnapshot): void {
  state.cache = stale ? 'stale' : cache;
  if (readingId) state.readingId = readingId;
}

function sendEncoded(reply: FastifyReply, { encoding, body }: Encoded): void {
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.header('content-type', JSON_TYPE).send(body);
}

/** Weak comparison of If-None-Match (RFC 9110 §13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
