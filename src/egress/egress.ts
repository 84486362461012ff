import { readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import axios, { AxiosError, type AxiosInstance, type AxiosResponse } from 'axios';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { GatewayError } from '../problems/gateway-error.js';
import type { EgressSettings } from '../settings/settings.js';
import type { ClientTls } from './client-tls.js';
import { DirectAgent } from './direct-agent.js';
import { matchesNoProxy } from './no-proxy.js';
import { TunnelAgent } from './tunnel-agent.js';
import { probeConnection, type ConnectionFacts } from './probe.js';
import { toWireError } from './wire-failure.js';

export interface WireRequest {
  /** Whom we talk to, in words for messages: "the token endpoint". */
  readonly target: string;
  /** https, without trailing slash. */
  readonly baseUrl: string;
  /** Begins with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the call early; the error then is the signal's reason. */
  readonly signal?: AbortSignal;
}

/** An answer of the bank's, whatever its status; the body whole and decompressed, not looked at. */
export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The Retry-After header as sent. */
  readonly retryAfter: string | null;
  readonly body: Buffer;
}

/**
 * The one way out: GET over mutual TLS to the configured hosts, directly or through the egress proxy. Whole-call and
 * connect deadlines, no redirects, no absolute addresses, a size limit, at most BANK_MAX_CONCURRENT_REQUESTS at a time.
 */
export class Egress {
  readonly #settings: EgressSettings;
  readonly #logger: Logger;
  readonly #axios: AxiosInstance;
  readonly #limit;
  readonly #agents = new Map<string, Agent>();
  readonly #tls: ClientTls;
  #everAnswered = false;

  constructor(settings: EgressSettings, tls: ClientTls, logger: Logger) {
    this.#settings = settings;
    this.#tls = tls;
    this.#logger = logger;
    this.#limit = pLimit(settings.maxConcurrentRequests);
    this.#axios = axios.create({
      adapter: 'http',
      // an agent of ours decides the route; axios would otherwise read HTTPS_PROXY by itself
      proxy: false,
      maxRedirects: 0,
      allowAbsoluteUrls: false,
      responseType: 'arraybuffer',
      transformResponse: [],
      validateStatus: () => true,
      maxContentLength: settings.maxResponseBytes,
      maxBodyLength: 0,
      decompress: true,
    });
  }

  /**
   * One GET. Gives any status; a redirect too, unfollowed.
   * @throws GatewayError certificate-rejected, bank-untrusted, bank-unavailable, bank-timeout, bank-response-invalid
   * (cut off, too large, no HTTP), proxy-refused, proxy-unavailable; or the reason of `signal`
   */
  async get(request: WireRequest): Promise<WireAnswer> {
    return this.#limit(async () => {
      request.signal?.throwIfAborted();
      const deadline = AbortSignal.timeout(this.#settings.requestTimeoutMs);
      const started = performance.now();
      try {
        const answer = await this.#call(request, deadline);
        this.#log(request, started, { status: answer.status });
        return answer;
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        this.#log(request, started, { failure: error instanceof GatewayError ? error.code : 'internal-error' });
        throw error;
      }
    });
  }

  /** Whether an answer was ever had with this certificate. */
  get everAnswered(): boolean {
    return this.#everAnswered;
  }

  /**
   * Opens one connection to `baseUrl` as a call would and closes it, for the doctor; `facts` are filled on the way.
   * @throws GatewayError as `get`
   */
  async probe(target: string, baseUrl: string, facts: ConnectionFacts): Promise<void> {
    try {
      await probeConnection(this.#agentFor(baseUrl), baseUrl, facts);
    } catch (error) {
      throw toWireError(error, {
        target,
        timedOut: false,
        timeoutMs: this.#settings.connectTimeoutMs,
        reusedSocket: false,
        answered: false,
        everAnswered: this.#everAnswered,
        maxResponseBytes: this.#settings.maxResponseBytes,
      });
    }
  }

  /** Closes idle connections now and the others as soon as their call is done. */
  retire(): void {
    for (const agent of this.#agents.values()) {
      (agent as Agent & { keepAlive: boolean }).keepAlive = false;
      closeIdle(agent);
    }
  }

  async #call(request: WireRequest, deadline: AbortSignal, repeated = false): Promise<WireAnswer> {
    const agent = this.#agentFor(request.baseUrl);
    try {
      const response = await this.#axios.get<Buffer>(request.path, {
        baseURL: request.baseUrl,
        params: request.query,
        headers: { Accept: false, 'User-Agent': 'accounts-gateway', ...request.headers },
        httpsAgent: agent,
        signal: request.signal ? AbortSignal.any([deadline, request.signal]) : deadline,
      });
      this.#everAnswered = true;
      return toWireAnswer(response);
    } catch (error) {
      const wire =
        error instanceof AxiosError
          ? (error.request as { reusedSocket?: boolean; res?: unknown } | undefined)
          : undefined;
      const answered = Boolean(wire?.res) || (error instanceof AxiosError && error.response !== undefined);
      const everAnswered = this.#everAnswered;
      if (answered) this.#everAnswered = true;
      const reusedSocket = wire?.reusedSocket === true;
      // the bank closed an idle connection just as it was used again: no fault, as long as a fresh one works
      if (reusedSocket && !answered && !deadline.aborted && !request.signal?.aborted && isReset(error) && !repeated) {
        closeIdle(agent);
        return this.#call(request, deadline, true);
      }
      throw toWireError(error, {
        target: request.target,
        timedOut: deadline.aborted,
        timeoutMs: this.#settings.requestTimeoutMs,
        reusedSocket,
        answered,
        everAnswered,
        maxResponseBytes: this.#settings.maxResponseBytes,
      });
    }
  }

  #agentFor(baseUrl: string): Agent {
    const { proxy } = this.#settings;
    const route = proxy && !goesDirect(this.#settings, baseUrl) ? 'proxy' : 'direct';
    let agent = this.#agents.get(route);
    if (!agent) {
      agent =
        proxy && route === 'proxy'
          ? new TunnelAgent(proxy, this.#tls, { ...this.#settings, proxyCa: readProxyCa(this.#settings) })
          : new DirectAgent(this.#tls, this.#settings);
      this.#agents.set(route, agent);
    }
    return agent;
  }

  #log(request: WireRequest, started: number, outcome: Record<string, unknown>): void {
    this.#logger.debug(
      {
        event: 'bank.call',
        target: request.target,
        host: new URL(request.baseUrl).host,
        path: request.path,
        ...request.query,
        readingId: request.headers['X-Request-Id'],
        ms: Math.round(performance.now() - started),
        ...outcome,
      },
      'call to the bank',
    );
  }
}

/** The way to `baseUrl` in words, without credentials: `direct`, `direct from 192.0.2.1`, `proxy http://host:3128`. */
export function describeRoute(settings: EgressSettings, baseUrl: string): string {
  const { proxy, localAddress } = settings;
  const from = localAddress === null ? '' : ` from ${localAddress}`;
  return proxy && !goesDirect(settings, baseUrl) ? `proxy ${proxy.protocol}//${proxy.host}${from}` : `direct${from}`;
}

export function goesDirect(settings: EgressSettings, baseUrl: string): boolean {
  const url = new URL(baseUrl);
  return matchesNoProxy(settings.noProxy, url.hostname, Number(url.port || 443));
}

function readProxyCa(settings: EgressSettings): string | null {
  return settings.proxyCaFile === null ? null : readFileSync(settings.proxyCaFile, 'utf8');
}

function isReset(error: unknown): boolean {
  const code = error instanceof AxiosError ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
}

function toWireAnswer(response: AxiosResponse<Buffer>): WireAnswer {
  const header = (name: string): string | null => {
    const value: unknown = response.headers[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    status: response.status,
    contentType: header('content-type') ?? '',
    retryAfter: header('retry-after'),
    body: Buffer.isBuffer(response.data) ? response.data : Buffer.alloc(0),
  };
}
