import { Readable } from 'node:stream';
import fastifyPlugin from 'fastify-plugin';

const PIECE_BYTES = 65_536;

/**
 * Over TLS, sends a long body in pieces. What is written is encrypted at once, as a whole: a copy for each client, where plain HTTP
 * sends all of them the same bytes, and before anything can count what waits.
 */
export const secureBodies = fastifyPlugin(async (fastify) => {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (!Buffer.isBuffer(payload) || payload.length <= PIECE_BYTES || request.method === 'HEAD') {
      done(null, payload);
      return;
    }
    reply.header('content-length', payload.length);
    done(null, Readable.from(piecesOf(payload), { objectMode: false }));
  });
});

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}
