import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Activity } from '../telemetry/activity.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { readSmallFile } from '../config/small-file.js';
import { BankAgent, type AgentSettings, type ClientTls } from './bank-agent.js';
import { nameOf, toAnswerError } from './answer-error.js';
import { CallReport } from './call-report.js';
import { orAborted } from '../time/deadline.js';
import { goesDirect, type RouteSettings } from './route.js';
import { CallFailed, WireClient, type WireAnswer, type WireRequest } from './wire-client.js';
import { toWireError } from './wire-failure.js';

/** The settings that egress uses. */
export type EgressSettings = RouteSettings &
  AgentSettings &
  Pick<
    Settings,
    'BANK_REQUEST_TIMEOUT_MS' | 'BANK_MAX_CONCURRENT_REQUESTS' | 'BANK_MAX_RESPONSE_BYTES' | 'EGRESS_PROXY_CA_FILE'
  >;

/** A request was not sent, because its `sendBefore` had passed. */
export class TooLateToSend extends Error {}

/** Excludes a body that is empty, HTML or noise. Only parsing shows whether the rest is valid. */
const STARTS_LIKE_JSON = /^(\xef\xbb\xbf)?\s*[[{]/;

interface EgressParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly activity: Activity;
}

/**
 * All calls to the bank: GET over mutual TLS to the configured hosts, directly or through the egress proxy. Whole-call and
 * connect deadlines, no redirects, no absolute addresses, a size limit, at most BANK_MAX_CONCURRENT_REQUESTS at a time.
 */
export class Egress {
  readonly #settings: EgressSettings;
  readonly #parts: EgressParts;
  readonly #client: WireClient;
  readonly #limit;
  readonly #direct: BankAgent;
  /** Null without a proxy. */
  readonly #proxied: BankAgent | null;
  readonly #closing = new AbortController();
  /** True once the bank has answered with this certificate. */
  #everAnswered = false;

  /** @throws FileUnusable when EGRESS_PROXY_CA_FILE cannot be read */
  constructor(settings: EgressSettings, tls: ClientTls, parts: EgressParts) {
    const { EGRESS_PROXY_CA_FILE: proxyCaFile, EGRESS_PROXY_URL: url } = settings;
    const ca = proxyCaFile === undefined ? null : readSmallFile(proxyCaFile).toString('utf8');
    this.#settings = settings;
    this.#direct = new BankAgent(tls, settings, null);
    this.#proxied = url && new BankAgent(tls, settings, { url, ca });
    this.#parts = parts;
    this.#limit = pLimit(settings.BANK_MAX_CONCURRENT_REQUESTS);
    this.#client = new WireClient(settings.BANK_MAX_RESPONSE_BYTES);
  }

  /**
   * One GET. Returns any status; a redirect too, unfollowed.
   * @throws GatewayError certificate-rejected, bank-untrusted, bank-unreachable, bank-timeout, bank-response-invalid
   * (cut off, too large, no HTTP), proxy-refused, proxy-unavailable; TooLateToSend; or the reason of `signal`, at once
   */
  async get(request: WireRequest): Promise<WireAnswer> {
    const signal = request.signal ? AbortSignal.any([request.signal, this.#closing.signal]) : this.#closing.signal;
    signal.throwIfAborted();
    return orAborted(
      this.#limit(() => this.#send(request, signal)),
      signal,
    );
  }

  /** Earliest expiry of the bank's server certificates, ms since 1970; null before the first answer. */
  get serverCertificateEnds(): number | null {
    return this.#client.serverCertificateEnds;
  }

  /** Closes idle connections now, and the others as soon as their call is done. */
  retire(): void {
    for (const agent of [this.#direct, this.#proxied]) agent?.retire();
  }

  /** Aborts everything at once at a stop, including calls in flight, with `reason`. */
  close(reason: GatewayError): void {
    this.retire();
    this.#closing.abort(reason);
  }

  /**
   * The error for a failed call or a failed connection.
   * @param target the other side, for messages: in words, or host and port
   */
  toError(failure: CallFailed, target: string, timedOut = false): GatewayError {
    return toWireError(failure, { target, timedOut, everAnswered: this.#everAnswered, settings: this.#settings });
  }

  /** The agent that opens, keeps and reuses the connections to `baseUrl`. */
  agentFor(baseUrl: string): BankAgent {
    return this.#proxied && !goesDirect(this.#settings, baseUrl) ? this.#proxied : this.#direct;
  }

  async #send(request: WireRequest, givenUp: AbortSignal): Promise<WireAnswer> {
    givenUp.throwIfAborted();
    const report = new CallReport(request, this.#parts);
    const deadline = AbortSignal.timeout(this.#settings.BANK_REQUEST_TIMEOUT_MS);
    try {
      const answer = await this.#getOverLiveSocket(request, AbortSignal.any([deadline, givenUp]));
      this.#everAnswered = true;
      report.end(answer.status, this.#codeOf(answer, request));
      return answer;
    } catch (error) {
      if (!(error instanceof CallFailed) || givenUp.aborted) {
        report.end(null, givenUp.aborted ? 'given-up' : 'not-sent');
        throw error;
      }
      const failure = this.toError(error, nameOf(request.target), deadline.aborted);
      if (error.status !== null) this.#everAnswered = true;
      report.end(error.status, failure.code);
      throw failure;
    }
  }

  /**
   * Retries on another connection if a kept one turns out to be dead. Each retry discards one kept connection, so the loop
   * ends.
   */
  async #getOverLiveSocket(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const agent = this.agentFor(request.baseUrl);
    for (;;) {
      if (request.sendBefore && this.#parts.clock.hasReached(request.sendBefore)) throw new TooLateToSend();
      try {
        return await this.#client.get(request, agent, signal);
      } catch (error) {
        if (!(error instanceof CallFailed && error.diedIdle) || signal.aborted) throw error;
        agent.closeIdle();
      }
    }
  }

  #codeOf(answer: WireAnswer, { target, expected = [] }: WireRequest): ProblemCode | null {
    if (expected.includes(answer.status)) return null;
    if (answer.status === 200 && !STARTS_LIKE_JSON.test(answer.body.toString('latin1', 0, 1024)))
      return 'bank-response-invalid';
    return toAnswerError(answer, target, this.#parts.clock.now().wall)?.code ?? null;
  }
}
