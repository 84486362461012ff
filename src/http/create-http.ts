import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Settings } from '../config/settings.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import type { Activity } from '../telemetry/activity.js';
import type { Log } from '../telemetry/log.js';
import type { Clock } from '../time/clock.js';
import { answerClientError, reject } from './client-errors.js';
import { createAdmission, toMethodNotAllowed, toRequestId } from './admission.js';
import { MAX_HEADER_BYTES, MAX_SEGMENT_LENGTH, type HttpLimits } from './http-limits.js';
import { ListenerCertificate } from './listener-certificate.js';
import { sendProblem, type ToFailurePage } from './send-problem.js';
import { parseQuery } from '../representation/read-query.js';
import { RequestLog } from './request-log.js';
import { UnderWay } from './under-way.js';

interface HttpParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly activity: Activity;
  readonly limits: HttpLimits;
  readonly toFailurePage: ToFailurePage;
}

/** Components that exist before Nest; no `certificate` if the API speaks plain HTTP. */
export type Http = Readonly<Awaited<ReturnType<typeof createHttp>>>;

const PIECE_BYTES = 65_536;
/** Node's own list lacks HTTP/1.0, and OpenSSL ends the handshake of a client that offers nothing else. */
const ALPN_PROTOCOLS = ['http/1.1', 'http/1.0'];

/** Creates the server with its limits, and Fastify with the checks that every request passes before Nest. */
export async function createHttp(parts: HttpParts) {
  const { settings, limits } = parts;
  const certificate = await ListenerCertificate.open(settings, parts.clock, parts.log.logger);
  const underWay = new UnderWay(limits, settings);
  const log = new RequestLog(parts.log.requests, parts.activity, underWay);
  const admit = createAdmission(settings);
  const rejection = { log, underWay, lingerMs: limits.lingerMs };
  const fastify: FastifyInstance = createFastify({
    serverFactory: (listener) => {
      const server = createServer(certificate, limits, listener);
      underWay.watch(server);
      server.maxConnections = settings.MAX_CONNECTIONS;
      // without a listener for `timeout`, Node closes the connection
      server.setTimeout(Math.max(limits.inactiveMs, settings.REQUEST_DEADLINE_MS + limits.inactiveAfterDeadlineMs));
      server.on('connect', (_request: IncomingMessage, socket: Socket) =>
        reject(socket, toMethodNotAllowed('CONNECT'), 'CONNECT', rejection),
      );
      return server;
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, rejection),
    frameworkErrors: (error, request, reply) => answerUnreadablePath(error.code, request, reply as FastifyReply),
    genReqId: toRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { querystringParser: parseQuery, maxParamLength: MAX_SEGMENT_LENGTH },
  });
  fastify.decorate('toFailurePage', parts.toFailurePage);
  // every request passes these before any hook, middleware or guard added to the app
  log.addTo(fastify);
  fastify.addHook('onRequest', (request, reply, next) => log.begin(request, reply, () => admit(request, reply, next)));
  if (certificate) sendInPieces(fastify);
  return { fastify, underWay, certificate };

  /** Answers a path that the router cannot read. Fastify runs no hooks for it. */
  function answerUnreadablePath(code: string, request: FastifyRequest, reply: FastifyReply): void {
    log.begin(request, reply, () => {
      try {
        admit(request, reply, () => sendProblem(reply, toUnreadable(code)));
      } catch (error) {
        sendProblem(reply, toGatewayError(error));
      }
    });
  }
}

/** The server with its limits (docs/bounds.md#callers). It uses HTTPS if there is a certificate. */
function createServer(certificate: ListenerCertificate | null, limits: HttpLimits, listener: RequestListener): Server {
  const options: ServerOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    // the guard answers a missing Host with a problem document
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const tls = { handshakeTimeout: limits.headersTimeoutMs, ALPNProtocols: ALPN_PROTOCOLS };
  const server = certificate
    ? certificate.renew(createTlsServer({ ...options, ...certificate.options, ...tls }))
    : createPlainServer(options);
  // beyond its limit Node silently drops headers, perhaps a second Host, which the guard must see
  server.maxHeadersCount = 0;
  server.on('request', listener);
  // no body is needed, so the response comes without a 100 Continue
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  return server;
}

const toUnreadable = (code: string): GatewayError =>
  code === 'FST_ERR_MAX_PARAM_LENGTH'
    ? new GatewayError('request-too-large', 'A part of the URL is too long.', { status: 414 })
    : new GatewayError('malformed-request', 'The URL of the request is malformed.');

/**
 * Sends a long body over TLS in pieces. TLS encrypts each write immediately, so a whole body would be copied for each
 * client before any limit applies. Plain HTTP sends the same bytes to all clients.
 */
function sendInPieces(fastify: FastifyInstance): void {
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
