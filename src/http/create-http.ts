import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { fastify as createFastify, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Settings } from '../config/settings.js';
import { CALLER_LEFT, type Activity } from '../telemetry/activity.js';
import type { Log } from '../telemetry/log.js';
import type { Clock } from '../time/clock.js';
import { AccessLog, accessLog } from './access-log.js';
import { serverOptions } from './allowed-methods.js';
import { ClientErrors, type ClientError } from './client-errors.js';
import { Connections } from './connections.js';
import { cors, preflight } from './cors.js';
import { createServer } from './create-server.js';
import { guard } from './guard.js';
import type { HttpLimits } from './http-limits.js';
import { ListenerCertificate } from './listener-certificate.js';
import { notFound } from './not-found.js';
import { createQueryParser } from './query-parser.js';
import { toRequestId } from './request-id.js';
import { hasLongSegment, isUndecodable, MAX_SEGMENT_LENGTH, toPath } from './request-path.js';
import { responseHeaders } from './response-headers.js';
import { secureBodies } from './secure-bodies.js';
import { SlowReaders } from './slow-readers.js';

interface HttpParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly activity: Activity;
  readonly limits: HttpLimits;
}

/** What is there before Nest: the server, and Fastify on it. */
export interface Http {
  readonly fastify: FastifyInstance;
  readonly connections: Connections<FastifyReply>;
  /** Null if the API speaks plain HTTP. */
  readonly certificate: ListenerCertificate | null;
}

/** No route has it. Paths that the router cannot read go there, so that every hook sees them; the guard refuses them. */
const NOWHERE = '/unreadable';

/**
 * Creates the entry point of requests (docs/architecture.md): the server with its limits, and Fastify with the plugins that every
 * request passes before Nest, in this order.
 */
export async function createHttp({ settings, clock, log, activity, limits }: HttpParts): Promise<Http> {
  const certificate = openCertificate();
  const connections = new Connections<FastifyReply>(log.logger, limits);
  const slowReaders = new SlowReaders(connections, limits);
  const requests = new AccessLog(log.requests, activity);
  const clientErrors = new ClientErrors(connections, requests);
  const fastify: FastifyInstance = createFastify({
    serverFactory: (listener) => {
      const server = createServer(certificate, limits, (request, response) => {
        // the parser goes on to the end of what it has read, though the connection was closed in its middle
        if (!request.socket.destroyed) listener(request, response);
      });
      server.maxConnections = settings.MAX_CONNECTIONS;
      connections.watch(server, ({ request }) => requests.ended(request, CALLER_LEFT));
      slowReaders.watch(server);
      server.on('connect', (request: IncomingMessage, socket: Socket) => clientErrors.refuseTunnel(request, socket));
      return server;
    },
    clientErrorHandler: (error: ClientError, socket: Socket) => clientErrors.answer(error, socket),
    rewriteUrl: ({ url = '/' }) => (isUndecodable(toPath(url)) || hasLongSegment(toPath(url)) ? NOWHERE : url),
    genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { querystringParser: createQueryParser(), maxParamLength: MAX_SEGMENT_LENGTH },
  });
  await fastify.register(accessLog, { log: requests, connections });
  await fastify.register(responseHeaders);
  await fastify.register(cors, { origins: settings.CORS_ORIGINS });
  await fastify.register(guard, { settings });
  await fastify.register(preflight, { origins: settings.CORS_ORIGINS });
  await fastify.register(serverOptions);
  await fastify.register(notFound);
  if (certificate) await fastify.register(secureBodies);
  return { fastify, connections, certificate };

  function openCertificate(): ListenerCertificate | null {
    const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = settings;
    if (!certFile || !keyFile) return null;
    return new ListenerCertificate({ certFile, keyFile }, clock, log.logger, limits.certificateLookMs);
  }
}
