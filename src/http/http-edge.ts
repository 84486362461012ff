import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import type { RequestFields } from '../logging/request-fields.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import { startRequestSpan } from '../telemetry/spans.js';
import { AccessLog, CALLER_LEFT } from './access-log.js';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import { createGuard, isProbe } from './guard.js';
import { ListenerCertificate } from './listener-certificate.js';
import { openServer } from './open-server.js';
import { parseQuery } from './parse-query.js';
import { ParserErrors, type ParserError } from './parser-errors.js';
import { sendProblem, toPath } from './problem-answer.js';
import { RouteMethods } from './route-methods.js';
import { toSecurityHeaders } from './security-headers.js';

/**
 * Where requests come in (docs/architecture.md): the server with its limits, and Fastify with the hooks that give every
 * request an id, the security headers, the guard, CORS and one log line. As a provider it ends gracefully with the app.
 */
export class HttpEdge implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** What Nest stands on; hooks added to it run for every request that has an address the router can read. */
  readonly fastify: FastifyInstance;
  readonly connections: Connections;
  /** Null where plain HTTP is spoken. */
  readonly certificate: ListenerCertificate | null;
  readonly #settings: Settings;
  readonly #accessLog: AccessLog;
  readonly #guard: ReturnType<typeof createGuard>;
  readonly #cors: Cors;
  readonly #methods: RouteMethods;
  #stopping = false;

  constructor(settings: Settings, logger: Logger, clock: Clock, activity: Activity) {
    this.#settings = settings;
    const accessLog = new AccessLog(logger, activity);
    this.#accessLog = accessLog;
    const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = settings;
    this.certificate = certFile && keyFile ? new ListenerCertificate({ certFile, keyFile }, clock, logger) : null;
    this.#guard = createGuard(settings);
    this.#cors = new Cors(settings.CORS_ORIGINS);
    const connections = new Connections(settings, {
      begun: (reply) => accessLog.ended(reply, CALLER_LEFT),
      waiting: (request) => accessLog.unbegun(request, toRequestId(request.headers['x-request-id'])),
    });
    this.connections = connections;
    const parserErrors = new ParserErrors(this.connections, accessLog);
    this.fastify = createFastify({
      serverFactory: (listener) => {
        const server = openServer(this.certificate, this.connections.inTurn(listener));
        this.connections.watch(server);
        server.on('connect', (request: IncomingMessage, socket: Socket) => parserErrors.refuseTunnel(request, socket));
        return server;
      },
      clientErrorHandler: (error: ParserError, socket: Socket) => parserErrors.answer(error, socket),
      // probes take no parameters: none are parsed
      rewriteUrl: ({ url = '/' }) => (isProbe(toPath(url)) ? toPath(url) : url),
      genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
      frameworkErrors: (error, request, reply) => this.#answerUnreadableAddress(error, request, reply as FastifyReply),
      return503OnClosing: false,
      forceCloseConnections: 'idle',
      routerOptions: { querystringParser: parseQuery, maxParamLength: 200 },
    }) as unknown as FastifyInstance;
    this.fastify.decorateRequest('logFields', null as unknown as RequestFields);
    this.fastify.addHook('onRequest', (request, reply, done) => this.#onRequest(request, reply, done));
    this.fastify.addHook('onResponse', (_request, reply, done) => {
      this.#answered(reply);
      done();
    });
    this.#methods = new RouteMethods(this.fastify);
  }

  /** Told to stop: not ready any more, though it may still serve. */
  get stopping(): boolean {
    return this.#stopping;
  }

  onApplicationBootstrap(): void {
    this.#methods.complete();
  }

  /**
   * The graceful stop (docs/operations.md): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new
   * connections, idle ones closed, calls in flight answered within SHUTDOWN_GRACE_MS, and what is left then is cut off.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping = true;
    const { server } = this.fastify;
    if (!server.listening) return;
    const { SHUTDOWN_DELAY_MS: shutdownDelayMs, SHUTDOWN_GRACE_MS: shutdownGraceMs } = this.#settings;
    if (shutdownDelayMs > 0) await delay(shutdownDelayMs);
    await this.connections.drain(server, shutdownGraceMs);
  }

  #onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    try {
      this.#enter(request, reply);
      if (request.method === 'OPTIONS' && this.#answersOptions(request, reply)) return;
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  /** @throws GatewayError for what the guard refuses */
  #enter(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const path = toPath(raw.url ?? '/');
    const connection = this.connections.of(raw.socket);
    request.logFields = { span: startRequestSpan(raw.headers['traceparent']) };
    reply.headers(toSecurityHeaders(path)).header('x-request-id', request.id);
    reply.headers(this.#cors.headersFor(raw.headers.origin));
    if (this.connections.draining || connection.beyondCap) reply.header('connection', 'close');
    connection.began(reply);
    this.#guard(raw, path, connection);
  }

  /** Preflights are answered whatever the address; `*` asks about the server as a whole (RFC 9110 §9.3.7). */
  #answersOptions({ raw }: FastifyRequest, reply: FastifyReply): boolean {
    if (this.#cors.isPreflight(raw.headers)) reply.headers(this.#cors.preflightHeaders(raw.headers));
    else if (raw.url === '*') reply.header('allow', 'GET, HEAD, OPTIONS');
    else return false;
    reply.code(204).send();
    return true;
  }

  /** Addresses that the router cannot read; no hook of the framework runs for them. */
  #answerUnreadableAddress(error: Error & { statusCode?: number }, request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('finish', () => this.#answered(reply));
    try {
      this.#enter(request, reply);
      throw error.statusCode === 414
        ? new GatewayError('request-too-large', 'A part of the address is too long.', { status: 414 })
        : new GatewayError('malformed-request', 'The address of the request is malformed.');
    } catch (problem) {
      sendProblem(reply, toGatewayError(problem));
    }
  }

  #answered(reply: FastifyReply): void {
    // who left before has had a line
    if (this.connections.of(reply.request.raw.socket).ended(reply)) this.#accessLog.ended(reply, reply.statusCode);
  }
}

/** The id a caller sent, when it is 1–64 of [A-Za-z0-9._-], else a new one. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID();
}
