import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { HttpSettings } from '../config/settings.js';
import type { Connection } from './connection.js';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import { createGuard } from './guard.js';
import type { Lifecycle } from './lifecycle.js';
import { logRequest } from './log-request.js';
import { openServer } from './open-server.js';
import { ParserErrors, type ParserError } from './parser-errors.js';
import { parseQuery } from './parse-query.js';
import { refuse } from './problem-answer.js';
import { toRequestId } from './request-id.js';
import { keepState, stateOf, type FirstAnswer, type RequestState } from './request-state.js';
import { ALLOW, Routes } from './routes.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** The page at /docs runs its own script and styles. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'";

/**
 * The way in (contract §3 and §7). It stands before the framework, so that every request, whatever a router makes of it,
 * gets an id, the security headers, the guard, CORS and one log line; those that are refused go no further.
 */
export class Door {
  readonly #guard: ReturnType<typeof createGuard>;
  readonly #cors: Cors;
  readonly #routes = new Routes();
  readonly #connections: Connections;
  readonly #parserErrors: ParserErrors;
  #first: FirstAnswer = () => false;

  constructor(
    private readonly settings: HttpSettings,
    private readonly logger: Logger,
    private readonly lifecycle: Lifecycle,
  ) {
    this.#guard = createGuard(settings);
    this.#cors = new Cors(settings.corsOrigins);
    this.#connections = new Connections(settings, (state) => {
      state.onLeft?.();
      logRequest(logger, state, 499);
    });
    this.#parserErrors = new ParserErrors(this.#connections, logger);
  }

  /** What the framework is made with. */
  get options() {
    return {
      serverFactory: (framework: RequestListener) => this.#open(framework),
      clientErrorHandler: (error: ParserError, socket: Socket) => this.#parserErrors.answer(error, socket),
      frameworkErrors: answerUnreadableAddress,
      return503OnClosing: false,
      forceCloseConnections: 'idle' as const,
      // nobody uses Express middleware here
      skipMiddie: true,
      routerOptions: { querystringParser: parseQuery, maxParamLength: 200 },
    };
  }

  /** Before any route is made. */
  install(fastify: FastifyInstance): void {
    fastify.decorateRequest('state', {
      getter(this: FastifyRequest) {
        return stateOf(this.raw);
      },
    });
    fastify.decorate('answerFirst', (answer: FirstAnswer) => {
      this.#first = answer;
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      const { state } = request;
      state.route = request.routeOptions.url ?? null;
      reply.headers(state.headers);
      done();
    });
    this.#routes.collect(fastify);
  }

  #open(framework: RequestListener) {
    const server = openServer(this.settings, (request, response) => {
      const state = this.#enter(request, response);
      try {
        if (!this.#isAnswered(state, response) && !this.#first(state, response)) framework(request, response);
      } catch (error) {
        const problem = toGatewayError(error);
        // whoever sends this and us may not agree where the next request begins
        if (problem.code === 'malformed-request') state.headers['connection'] = 'close';
        refuse(response, state, problem);
      }
    });
    this.#connections.watch(server, this.lifecycle);
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      const problem = new GatewayError('method-not-allowed', 'CONNECT is not allowed here.', {
        headers: { allow: ALLOW },
      });
      const connection = this.#connections.of(socket);
      if (connection) this.#parserErrors.refuse(connection, problem, '/', request.method ?? null);
      else socket.destroy();
    });
    return server;
  }

  #enter(request: IncomingMessage, response: ServerResponse): RequestState {
    const connection = this.#connectionOf(request);
    const { url = '/', headers } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const requestId = toRequestId(headers['x-request-id']);
    const state: RequestState = {
      request,
      requestId,
      path,
      startedAt: performance.now(),
      client: connection.client,
      headers: { ...SECURITY_HEADERS, 'x-request-id': requestId },
      route: null,
    };
    if (path.startsWith('/docs')) state.headers['content-security-policy'] = DOCS_POLICY;
    if (this.lifecycle.draining) state.headers['connection'] = 'close';
    this.#cors.addHeaders(headers, state.headers);
    keepState(state);
    connection.began(state);
    response.once('finish', () => {
      connection.ended(state);
      logRequest(this.logger, state, response.statusCode);
    });
    return state;
  }

  /**
   * True when the request needs no route, such as a preflight.
   * @throws GatewayError for what is refused
   */
  #isAnswered(state: RequestState, response: ServerResponse): boolean {
    const { request, path } = state;
    const { method = '', headers } = request;
    this.#guard(request, path, this.#connectionOf(request));
    if (method === 'GET' || method === 'HEAD') return false;
    state.route = this.#routes.find(path);
    if (method !== 'OPTIONS') this.#routes.refuseMethod(method, state.route);
    if (this.#cors.isPreflight(headers)) {
      response.writeHead(204, { ...state.headers, ...this.#cors.preflightHeaders(headers) });
    } else {
      if (state.route === null && path !== '*') this.#routes.refuseMethod(method, null);
      response.writeHead(204, { ...state.headers, allow: ALLOW });
    }
    response.end();
    return true;
  }

  #connectionOf(request: IncomingMessage): Connection {
    return this.#connections.of(request.socket) as Connection;
  }
}

/** Addresses that the router can't read; no hook of the framework runs for them. */
function answerUnreadableAddress(
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  refuse(
    reply.raw,
    stateOf(request.raw),
    error.statusCode === 414
      ? new GatewayError('request-too-large', 'A part of the address is too long.', { status: 414 })
      : new GatewayError('malformed-request', 'The address of the request is malformed.'),
  );
}
