import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { setTimeout as delay } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CALLER_LEFT, type Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import type { Log } from '../telemetry/log.js';
import type { RequestFields } from '../telemetry/request-fields.js';
import { GatewayError, toGatewayError } from '../errors/gateway-error.js';
import { isTracing, startRequestSpan } from '../telemetry/spans.js';
import { AccessLog } from './access-log.js';
import { ClientErrors, type ClientError } from './client-errors.js';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import { createServer } from './create-server.js';
import { createGuard, isProbe, toPath } from './guard.js';
import { ListenerCertificate } from './listener-certificate.js';
import { compressResponse } from '../representation/negotiation.js';
import { sendProblem } from './problem-answer.js';
import { RouteMethods } from './route-methods.js';
import { SECURITY_HEADERS } from '../representation/security-headers.js';

/** Request headers that a response may depend on. All responses have the same list, so that no route can forget one. */
const VARY = 'Accept, Accept-Encoding, Origin';
/** More than any route defines, so the schema still sees at least one unknown or repeated parameter. */
const MAX_PARAMETERS = 100;

/** Fastify's reply for a response of Node's. A WeakMap of all of them would cost the collector more than all else here. */
const REPLY = Symbol('reply');
type AnsweredResponse = ServerResponse & { [REPLY]?: FastifyReply };

/**
 * The entry point of requests (docs/architecture.md): the server with its limits, and Fastify with the hooks that give every
 * request an id, the security headers, the guard, CORS and one log line. As a provider it ends gracefully with the app.
 */
export class HttpEdge implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The instance that Nest uses; hooks added to it run for every request whose address the router can read. */
  readonly fastify: FastifyInstance;
  /** Null if the API speaks plain HTTP. */
  readonly certificate: ListenerCertificate | null;
  readonly #settings: Settings;
  readonly #connections: Connections;
  readonly #accessLog: AccessLog;
  readonly #guard: ReturnType<typeof createGuard>;
  readonly #cors: Cors;
  readonly #methods: RouteMethods;
  readonly #tracing = isTracing();
  #stopping = false;
  #draining = false;

  constructor(settings: Settings, { logger, requests }: Log, clock: Clock, activity: Activity) {
    this.#settings = settings;
    this.#accessLog = new AccessLog(requests, activity);
    const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = settings;
    this.certificate = certFile && keyFile ? new ListenerCertificate({ certFile, keyFile }, clock, logger) : null;
    this.#guard = createGuard(settings);
    this.#cors = new Cors(settings.CORS_ORIGINS);
    const connections = new Connections(logger);
    this.#connections = connections;
    const clientErrors = new ClientErrors(connections, this.#accessLog);
    this.fastify = createFastify({
      serverFactory: (listener) => {
        const server = createServer(this.certificate, (request, response) => {
          if (connections.enter(request, response)) listener(request, response);
        });
        connections.watch(server, settings.MAX_CONNECTIONS);
        server.on('connect', (request: IncomingMessage, socket: Socket) => clientErrors.refuseTunnel(request, socket));
        return server;
      },
      clientErrorHandler: (error: ClientError, socket: Socket) => clientErrors.answer(error, socket),
      // probes take no parameters: none are parsed
      rewriteUrl: ({ url = '/' }) => (isProbe(toPath(url)) ? toPath(url) : url),
      genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
      frameworkErrors: (error, request, reply) => this.#answerUnreadableAddress(error, request, reply as FastifyReply),
      return503OnClosing: false,
      forceCloseConnections: 'idle',
      routerOptions: {
        // the limit also counts empty parameters (&&), which would hide the ones after them
        querystringParser: (query) => parse(query.replaceAll(/&+/g, '&'), '&', '=', { maxKeys: MAX_PARAMETERS }),
        maxParamLength: 200,
      },
    }) as unknown as FastifyInstance;
    this.fastify.decorateRequest('logFields', null as unknown as RequestFields);
    this.fastify.addHook('onRequest', (request, reply, done) => this.#onRequest(request, reply, done));
    // after every onRequest hook, before a body is read that may never come
    this.fastify.addHook('preParsing', (request, _reply, payload, done) => {
      done(request.is404 ? new GatewayError('not-found', 'No route has this path.') : null, payload);
    });
    this.fastify.addHook('onResponse', (request, reply, done) => {
      this.#accessLog.ended(request, reply.statusCode);
      done();
    });
    this.fastify.addHook('onRequestAbort', (request, done) => {
      this.#accessLog.ended(request, CALLER_LEFT);
      done();
    });
    this.fastify.addHook('onSend', compressResponse);
    this.#methods = new RouteMethods(this.fastify);
  }

  /** True after a signal to stop: no longer ready, though it may still serve. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Returns Fastify's reply for the raw Node response that Nest's middleware gets. */
  replyOf(response: ServerResponse): FastifyReply | undefined {
    return (response as AnsweredResponse)[REPLY];
  }

  onApplicationBootstrap(): void {
    this.#methods.complete();
  }

  /**
   * The graceful stop (docs/deploy.md#start-signals-and-stop): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new
   * connections, idle ones closed, requests in flight answered within SHUTDOWN_GRACE_MS, and what is left then is closed.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping = true;
    const { server } = this.fastify;
    if (!server.listening) return;
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.#settings;
    if (SHUTDOWN_DELAY_MS > 0) await delay(SHUTDOWN_DELAY_MS);
    this.#draining = true;
    await this.#connections.drain(server, SHUTDOWN_GRACE_MS);
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
    request.logFields = {
      startedAt: performance.now(),
      span: this.#tracing ? startRequestSpan(raw.headers['traceparent']) : undefined,
    };
    (reply.raw as AnsweredResponse)[REPLY] = reply;
    reply.headers(SECURITY_HEADERS).headers({ vary: VARY, 'x-request-id': request.id });
    const { origin } = raw.headers;
    if (origin !== undefined) reply.headers(this.#cors.headersFor(origin));
    if (this.#draining) reply.header('connection', 'close');
    this.#guard(raw);
  }

  /** Preflights are answered for any address; `*` asks about the server as a whole (RFC 9110 §9.3.7). */
  #answersOptions({ raw }: FastifyRequest, reply: FastifyReply): boolean {
    if (this.#cors.isPreflight(raw.headers)) reply.headers(this.#cors.preflightHeaders(raw.headers));
    else if (raw.url === '*') reply.header('allow', 'GET, HEAD, OPTIONS');
    else return false;
    reply.code(204).send();
    return true;
  }

  /** Handles URLs that the router cannot parse; no framework hook runs for them. */
  #answerUnreadableAddress(error: Error & { statusCode?: number }, request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('finish', () => this.#accessLog.ended(request, reply.statusCode));
    try {
      this.#enter(request, reply);
      throw error.statusCode === 414
        ? new GatewayError('request-too-large', 'A part of the URL is too long.', { status: 414 })
        : new GatewayError('malformed-request', 'The URL of the request is malformed.');
    } catch (problem) {
      sendProblem(reply, toGatewayError(problem));
    }
  }
}

/** The id a caller sent, when it is 1–64 of [A-Za-z0-9._-], else a new one. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID();
}
