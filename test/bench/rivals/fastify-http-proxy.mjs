// @fastify/http-proxy as its README shows it: every call goes on to the bank. It can present a client certificate; it cannot
// get a token, so the bench puts one in by hand. No cache, no log. argv: port; the rest in one JSON text.
import proxy from '@fastify/http-proxy';
import Fastify from 'fastify';

const [port, given] = process.argv.slice(2);
const { url, token, tls } = JSON.parse(given);

const app = Fastify({ logger: false });
await app.register(proxy, {
  upstream: url,
  prefix: '/api',
  rewritePrefix: '/api',
  httpMethods: ['GET', 'HEAD'],
  undici: { connections: 32, pipelining: 1, connect: { ...tls, pfx: Buffer.from(tls.pfx, 'base64') } },
  replyOptions: {
    rewriteRequestHeaders: (_request, headers) => ({ ...headers, authorization: `Bearer ${token}` }),
  },
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
