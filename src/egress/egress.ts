import type { Agent } from 'node:http';
import type { TLSSocket } from 'node:tls';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { Activity } from '../telemetry/activity.js';
import { GatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';
import type { Settings } from '../config/settings.js';
import { readSmallFile } from '../config/small-file.js';
import type { ClientTls } from './agent-options.js';
import { DirectAgent } from './direct-agent.js';
import { probeConnection, type ConnectionFacts } from './probe-connection.js';
import { orAborted } from '../time/deadline.js';
import { endCallSpan, startCallSpan } from '../telemetry/spans.js';
import { goesDirect, type RouteSettings } from './route.js';
import { TunnelAgent } from './tunnel-agent.js';
import { CallFailed, WireClient, type WireAnswer, type WireRequest } from './wire-client.js';
import { toWireError, type FailureContext } from './wire-failure.js';

export type { WireAnswer, WireRequest } from './wire-client.js';

/** What egress needs of the settings. */
export type EgressSettings = RouteSettings &
  Pick<
    Settings,
    | 'BANK_TLS_MAX_VERSION'
    | 'BANK_CONNECT_TIMEOUT_MS'
    | 'BANK_REQUEST_TIMEOUT_MS'
    | 'BANK_MAX_CONCURRENT_REQUESTS'
    | 'BANK_MAX_RESPONSE_BYTES'
    | 'EGRESS_PROXY_CA_FILE'
  >;

/**
 * All calls to the bank: GET over mutual TLS to the configured hosts, directly or through the egress proxy. Whole-call and
 * connect deadlines, no redirects, no absolute addresses, a size limit, at most BANK_MAX_CONCURRENT_REQUESTS at a time.
 */
export class Egress {
  readonly #settings: EgressSettings;
  readonly #logger: Logger;
  readonly #activity: Activity;
  /** When the certificate of each host's server ends, as seen at the last handshake; ms since 1970. */
  readonly #serversEnd = new Map<string, number>();
  readonly #client: WireClient;
  readonly #limit;
  readonly #agents = new Map<string, Agent>();
  readonly #tls: ClientTls;
  readonly #proxyCa: string | null;
  readonly #closing = new AbortController();
  #everAnswered = false;
  #retired = false;

  /** @throws FileUnusable when EGRESS_PROXY_CA_FILE cannot be read */
  constructor(settings: EgressSettings, tls: ClientTls, logger: Logger, activity = new Activity()) {
    this.#settings = settings;
    this.#tls = tls;
    this.#logger = logger;
    this.#activity = activity;
    this.#limit = pLimit(settings.BANK_MAX_CONCURRENT_REQUESTS);
    this.#client = new WireClient(settings.BANK_MAX_RESPONSE_BYTES);
    const { EGRESS_PROXY_CA_FILE: file } = settings;
    this.#proxyCa = file === undefined ? null : readSmallFile(file).toString('utf8');
  }

  /**
   * One GET. Gives any status; a redirect too, unfollowed.
   * @throws GatewayError certificate-rejected, bank-untrusted, bank-unreachable, bank-timeout, bank-response-invalid
   * (cut off, too large, no HTTP), proxy-refused, proxy-unavailable; what `freshHeaders` throws; or the reason of `signal`, at once
   */
  async get(request: WireRequest): Promise<WireAnswer> {
    const signal = request.signal ? AbortSignal.any([request.signal, this.#closing.signal]) : this.#closing.signal;
    signal.throwIfAborted();
    const work = this.#limit(async () => {
      signal.throwIfAborted();
      const started = performance.now();
      const span = startCallSpan(request);
      try {
        const answer = await this.#call(request, signal);
        endCallSpan(span, { status: answer.status });
        this.#log(request, started, { status: answer.status });
        this.#count(request, started, answer.status, request.counted?.judge(answer) ?? null);
        return answer;
      } catch (error) {
        const kind = error instanceof GatewayError ? error.code : 'not-sent';
        const failure = signal.aborted ? 'given-up' : kind;
        endCallSpan(span, { failure });
        this.#log(request, started, { failure });
        if (error instanceof GatewayError && !signal.aborted) this.#count(request, started, null, error.code);
        throw error;
      }
    });
    return orAborted(work, signal);
  }

  /** Whether an answer was ever had with this certificate. */
  get everAnswered(): boolean {
    return this.#everAnswered;
  }

  status() {
    const ends = [...this.#serversEnd.values()];
    return {
      /** When the first of the bank's server certificates ends, ms since 1970; null before the first handshake. */
      serverCertificateEnds: ends.length > 0 ? Math.min(...ends) : null,
    };
  }

  /**
   * Opens one connection to `baseUrl` as a call would and closes it, for the doctor; `facts` are filled on the way.
   * @throws GatewayError as `get`
   */
  async probe(target: string, baseUrl: string, facts: ConnectionFacts): Promise<void> {
    try {
      await probeConnection(this.#agentFor(baseUrl), baseUrl, facts);
    } catch (error) {
      const timeoutMs = this.#settings.BANK_CONNECT_TIMEOUT_MS;
      throw this.#toError(error, { target, timedOut: false, timeoutMs, reusedSocket: false, answered: false });
    }
  }

  /** Closes idle connections now and the others as soon as their call is done; calls that come later keep none. */
  retire(): void {
    this.#retired = true;
    for (const agent of this.#agents.values()) {
      keepNone(agent);
      closeIdle(agent);
    }
  }

  /** Ends everything at once, calls in flight too, with `reason`: for the stop. */
  close(reason: GatewayError): void {
    this.retire();
    this.#closing.abort(reason);
  }

  async #call(request: WireRequest, givenUp: AbortSignal): Promise<WireAnswer> {
    const agent = this.#agentFor(request.baseUrl);
    const deadline = AbortSignal.timeout(this.#settings.BANK_REQUEST_TIMEOUT_MS);
    const signal = AbortSignal.any([deadline, givenUp]);
    for (;;) {
      try {
        const answer = await this.#client.get(request, agent, signal);
        this.#everAnswered = true;
        return answer;
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        // a kept connection that died is no fault as long as a fresh one works; each such failure uses one up, so that
        // this ends with a fresh one
        if (error.diedIdle && !signal.aborted) {
          closeIdle(agent);
          continue;
        }
        const { answered, reusedSocket } = error;
        const timeoutMs = this.#settings.BANK_REQUEST_TIMEOUT_MS;
        const failure = this.#toError(error.cause, {
          target: request.target,
          timedOut: deadline.aborted,
          timeoutMs,
          reusedSocket,
          answered,
        });
        if (answered) this.#everAnswered = true;
        throw failure;
      }
    }
  }

  #toError(cause: unknown, context: Omit<FailureContext, 'everAnswered' | 'maxResponseBytes'>): GatewayError {
    const { BANK_MAX_RESPONSE_BYTES: maxResponseBytes } = this.#settings;
    return toWireError(cause, { ...context, everAnswered: this.#everAnswered, maxResponseBytes });
  }

  #agentFor(baseUrl: string): Agent {
    const { EGRESS_PROXY_URL: proxy } = this.#settings;
    const route = proxy && !goesDirect(this.#settings, baseUrl) ? 'proxy' : 'direct';
    let agent = this.#agents.get(route);
    if (!agent) {
      const options = {
        tlsMaxVersion: this.#settings.BANK_TLS_MAX_VERSION,
        connectTimeoutMs: this.#settings.BANK_CONNECT_TIMEOUT_MS,
        localAddress: this.#settings.EGRESS_LOCAL_ADDRESS ?? null,
        onSecure: (socket: TLSSocket) => this.#noteServer(socket),
      };
      agent =
        proxy && route === 'proxy'
          ? new TunnelAgent(proxy, this.#tls, { ...options, proxyCa: this.#proxyCa })
          : new DirectAgent(this.#tls, options);
      if (this.#retired) keepNone(agent);
      this.#agents.set(route, agent);
    }
    return agent;
  }

  #noteServer(socket: TLSSocket): void {
    // getPeerX509Certificate() would leave nothing for who looks at the chain afterwards, as the doctor does
    const { valid_to: end } = socket.getPeerCertificate();
    if (end) this.#serversEnd.set(String(socket.servername || socket.remoteAddress), Date.parse(end));
  }

  #count({ counted, baseUrl }: WireRequest, started: number, status: number | null, code: ProblemCode | null): void {
    if (!counted) return;
    const { hostname: serverAddress, port } = new URL(baseUrl);
    const call = { target: counted.endpoint, method: 'GET', serverAddress, serverPort: Number(port) || 443 } as const;
    this.#activity.emit('bankCallEnded', { ...call, status, ms: performance.now() - started, code });
  }

  #log(request: WireRequest, started: number, outcome: Record<string, unknown>): void {
    this.#logger.debug(
      {
        event: 'bank.call',
        target: request.target,
        host: new URL(request.baseUrl).host,
        path: request.path,
        ...request.query,
        refreshId: request.headers['X-Request-Id'],
        ms: Math.round(performance.now() - started),
        ...outcome,
      },
      'call to the bank',
    );
  }
}

function keepNone(agent: Agent): void {
  (agent as Agent & { keepAlive: boolean }).keepAlive = false;
}

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
}
