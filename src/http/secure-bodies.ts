import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

const PIECE_BYTES = 65_536;

/**
 * Sends a long body over TLS in pieces. TLS encrypts at once whatever is written, so a whole body would be copied for each client
 * before any limit counts it. Plain HTTP sends all clients the same bytes.
 */
export function sendInPieces(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (!Buffer.isBuffer(payload) || payload.length <= PIECE_BYTES || request.method === 'HEAD') {
      done(null, payload);
      return;
    }
    reply.header('content-length', payload.length);
    done(null, Readable.from(piecesOf(payload), { objectMode: false }));
  });
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}
