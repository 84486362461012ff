import type { Agent, IncomingMessage } from 'node:http';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { Span } from '@opentelemetry/api';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { ProblemCode } from '../errors/problem-table.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Activity } from '../telemetry/activity.js';
import { endCallSpan, startCallSpan } from '../telemetry/spans.js';
import type { Clock } from '../time/clock.js';
import { orAborted } from '../time/deadline.js';
import type { Settings } from '../config/settings.js';
import { createAgent, type ClientTls } from './agents.js';
import { toAnswerError } from './answer-error.js';
import { HostConnections } from './host-connections.js';
import { CallFailed, type Hello } from './connection.js';
import { parseHttpDate } from './http-date.js';
import { goesDirect } from './route.js';
import { type Answer, getOverWire, NAMES, type WireOptions, type WireRequest } from './wire-client.js';
import { toWireError } from './wire-failure.js';

export interface EgressParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
  /** Called after each call that was sent. */
  readonly onCall?: (call: EndedCall) => void;
}

export interface EndedCall {
  readonly request: WireRequest;
  readonly answer: Answer | null;
  readonly failure: ProblemCode | null;
  readonly ms: number;
}

interface Call {
  readonly request: WireRequest;
  readonly started: number;
  readonly span: Span | undefined;
}

type CallFailure = ProblemCode | 'given-up' | 'not-sent';

/** Thrown if a request was not sent because its `sendBefore` had passed. */
export class TooLateToSend extends Error {}

/** Makes all calls to the bank: GET over mutual TLS, directly or through the egress proxy. */
export class Egress {
  readonly #limit;
  readonly #hosts = new Map<string, HostConnections>();
  readonly #closing = new AbortController();
  /** Expiry of each server's certificate, as seen on its last new connection, ms since 1970. */
  readonly #serversEnd = new Map<string, number>();
  #clockSkewMs: number | null = null;
  #isRetired = false;

  /** @param proxyCa PEM of the roots for an https proxy; null for the runtime's default ones */
  constructor(
    private readonly tls: ClientTls,
    private readonly proxyCa: string | null,
    private readonly parts: EgressParts,
  ) {
    this.#limit = pLimit(parts.settings.BANK_MAX_CONCURRENT_REQUESTS);
  }

  /**
   * Sends one GET. Returns any status, including an unfollowed redirect, with the error that it means.
   * @throws GatewayError certificate-rejected, bank-untrusted, bank-unreachable, bank-timeout, bank-error (by TLS),
   * bank-response-invalid (cut off, too large, no HTTP), proxy-refused, proxy-unavailable, overloaded (too many open
   * files), stopping after `close`; TooLateToSend; or the reason of `signal`, at once
   */
  async get(request: WireRequest): Promise<Answer> {
    const signal = request.signal ? AbortSignal.any([request.signal, this.#closing.signal]) : this.#closing.signal;
    signal.throwIfAborted();
    return orAborted(
      this.#limit(() => this.#send(request, signal)),
      signal,
    );
  }

  /** Earliest expiry of the bank's server certificates, ms since 1970; null before the first response. */
  get serverCertificateEnds(): number | null {
    const ends = [...this.#serversEnd.values()];
    return ends.length > 0 ? Math.min(...ends) : null;
  }

  /** How far our wall clock was behind the bank's at its latest response, ms; null before the first Date header. */
  get clockSkewMs(): number | null {
    return this.#clockSkewMs;
  }

  /** Closes idle connections now, and the others as soon as their call is done. */
  retire(): void {
    this.#isRetired = true;
    this.forget();
  }

  /** Forgets connections, and what was learned about the bank's hosts (SIGHUP, the doctor). */
  forget(): void {
    for (const host of this.#hosts.values()) host.forget();
  }

  /** Aborts everything at once with `stopping`, calls in flight included. */
  close(): void {
    this.retire();
    this.#closing.abort(new GatewayError('stopping', 'This instance is stopping.'));
  }

  /**
   * Runs `attempt` with the retries of a call, for the doctor.
   * @param attempt rejects with CallFailed
   * @param target host and port of the other side, for messages
   * @throws GatewayError as `get`; any other error of `attempt`
   */
  async reach<T>(baseUrl: string, target: string, attempt: (agent: Agent) => Promise<T>): Promise<T> {
    try {
      return await this.#hostOf(baseUrl).reach(attempt, this.#closing.signal);
    } catch (error) {
      throw error instanceof CallFailed ? toWireError(error, target, false, this.parts.settings) : error;
    }
  }

  #hostOf(baseUrl: string): HostConnections {
    const { host } = new URL(baseUrl);
    const known = this.#hosts.get(host);
    if (known) return known;
    const { settings, clock, logger } = this.parts;
    const isHybrid = settings.BANK_TLS_MAX_VERSION !== '1.2';
    const createAgent = this.#createAgent.bind(this, baseUrl);
    const created = new HostConnections(host, this.tls.cert, createAgent, isHybrid, clock, logger);
    this.#hosts.set(host, created);
    return created;
  }

  #createAgent(baseUrl: string, hello: Hello): Agent {
    const { tls, proxyCa } = this;
    const { settings } = this.parts;
    const { EGRESS_PROXY_URL: url } = settings;
    const proxy = url && !goesDirect(settings, baseUrl) ? { url, ca: proxyCa } : null;
    const agent = createAgent(settings, tls, proxy, hello);
    if (this.#isRetired) agent.maxFreeSockets = 0;
    return agent;
  }

  async #send(request: WireRequest, givenUp: AbortSignal): Promise<Answer> {
    givenUp.throwIfAborted();
    const span = startCallSpan(request.baseUrl, request.path, request.query);
    const call = { request, started: performance.now(), span };
    const { BANK_REQUEST_TIMEOUT_MS: timeoutMs, BANK_MAX_RESPONSE_BYTES: maxBytes } = this.parts.settings;
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([deadline, givenUp]);
    const host = this.#hostOf(request.baseUrl);
    const attempt = async (agent: Agent) => {
      if (request.sendBefore && this.parts.clock.hasReached(request.sendBefore)) throw new TooLateToSend();
      const sentAt = this.parts.clock.now().wall;
      const onAnswer: WireOptions['onAnswer'] = (answer, isNew) => this.#noteAnswer(answer, isNew, sentAt);
      return getOverWire(request, { agent, signal, maxBytes, onAnswer });
    };
    try {
      const answer = await host.reach(attempt, signal, request.isFresh);
      host.noteAnswered();
      // behind a load balancer, another server may be healthy
      if (answer.status >= 500) host.drop();
      const error = request.judge ? request.judge(answer) : toAnswerError(answer, request.target);
      this.#report(call, answer.status, error && error.code, { ...answer, error });
      return { ...answer, error };
    } catch (error) {
      if (!(error instanceof CallFailed) || givenUp.aborted) {
        this.#report(call, null, givenUp.aborted ? 'given-up' : 'not-sent');
        throw error;
      }
      if (error.status !== null) host.noteAnswered();
      // a firewall may have dropped the kept connections
      if (deadline.aborted) host.drop();
      const failure = toWireError(error, NAMES[request.target], deadline.aborted, this.parts.settings);
      this.#report(call, error.status, failure.code);
      throw failure;
    }
  }

  #noteAnswer({ headers, socket }: IncomingMessage, isNewConnection: boolean, sentAt: number): void {
    const date = parseHttpDate(headers.date);
    if (date !== null) {
      // a cache on the way sends the Date of when it stored the answer, and its Age
      const bankMs = date + Number(/^\d{1,9}$/.exec(headers.age ?? '')?.[0] ?? 0) * 1000;
      // any time between sending and receiving is right
      this.#clockSkewMs = bankMs - Math.max(sentAt, Math.min(bankMs, this.parts.clock.now().wall));
    }
    if (!isNewConnection) return;
    const { servername, remoteAddress } = socket as TLSSocket;
    // null once the socket is closed
    const end = ((socket as TLSSocket).getPeerCertificate() as PeerCertificate | null)?.valid_to;
    if (end) this.#serversEnd.set(String(servername || remoteAddress), Date.parse(end));
  }

  /** @param status null without a status line */
  #report(
    { request, started, span }: Call,
    status: number | null,
    failure: CallFailure | null,
    answer: Answer | null = null,
  ): void {
    const { target, baseUrl, path, query, headers } = request;
    const { host, hostname, port } = new URL(baseUrl);
    const ms = performance.now() - started;
    const outcome = { status: status ?? undefined, failure: failure ?? undefined };
    if (span) endCallSpan(span, outcome);
    const fields = { target, host, path, ...query, refreshId: headers['X-Request-Id'], ms: Math.round(ms), ...outcome };
    const reference = answer?.error?.bankReference;
    this.parts.logger.debug({ event: 'bank.call', ...fields, ...reference }, 'call to the bank');
    if (failure === 'given-up' || failure === 'not-sent') return;
    const server = { serverAddress: hostname, serverPort: Number(port || 443) };
    this.parts.activity.emit('bankCallEnded', { target, ...server, status, ms, code: failure });
    this.parts.onCall?.({ request, answer, failure, ms });
  }
}
