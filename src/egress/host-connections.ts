import type { Agent } from 'node:http';
import type { Logger } from 'pino';
import { CallFailed } from './connection.js';

/** Connections that may close in a row before a call fails, not counting those kept from an earlier success. */
const MAX_CLOSED = 2;

/** Host and certificate of every bank that has responded in this process; a new password creates a new egress. */
const answered = new Set<string>();

/**
 * The connections to one host of the bank. Knows what the last success left behind (kept connections, tunnels, a TLS
 * session, the groups that work), and the failures after which a call is retried without it. The agent keeps
 * connections and session; dropping it forgets them.
 */
export class HostConnections {
  #agent: Agent | null = null;
  /** True once a TLS handshake has succeeded, with these groups. */
  #isReached = false;
  #isClassical = false;
  /** False after a ClientHello with a session got no response: the session makes it longer than the one that arrived. */
  #mayResume = true;
  #isLogged = false;

  /**
   * @param name host and port
   * @param cert our certificate
   * @param createAgent takes true for classical key exchange groups only, and true if sessions may be resumed
   * @param isHybrid true if the first handshake offers the hybrid group too
   */
  constructor(
    private readonly name: string,
    private readonly cert: string,
    private readonly createAgent: (isClassical: boolean, mayResume: boolean) => Agent,
    private readonly isHybrid: boolean,
    private readonly logger: Logger,
  ) {}

  get agent(): Agent {
    return (this.#agent ??= this.createAgent(this.#isClassical, this.#mayResume));
  }

  /** Notes that the host has responded over our certificate: it accepts it. */
  noteAnswered(): void {
    answered.add(this.#key);
  }

  /** Forgets connections, session and groups (SIGHUP). Calls in flight continue unchanged. */
  forget(): void {
    this.drop();
    this.#isReached = false;
    this.#isClassical = false;
    this.#mayResume = true;
  }

  /**
   * Forgets session and kept connections; those in use close when their call is done. No-op for an agent that was
   * already dropped.
   */
  drop(agent = this.#agent): void {
    if (!agent || agent !== this.#agent) return;
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
    this.#agent = null;
  }

  /**
   * Runs `attempt`, and retries it at once: with a new connection and a full handshake if a kept connection or
   * a resumed session fails or gets no answer; once if a new connection is closed without an answer; with classical
   * groups if the very first handshake is closed or gets no answer.
   * @throws CallFailed, and whatever else `attempt` throws
   */
  async reach<T>(attempt: (agent: Agent) => Promise<T>, signal: AbortSignal): Promise<T> {
    let [closed, judgedLate] = [0, 0];
    for (;;) {
      const { agent } = this;
      const isFirst = this.isHybrid && !this.#isReached && !this.#isClassical;
      try {
        const result = await attempt(agent);
        this.#noteReached(agent);
        return result;
      } catch (error) {
        if (!(error instanceof CallFailed && error.connection) || signal.aborted) throw error;
        const { connection, isClosed, isLost, isSilent } = error;
        if (connection.isSecure) this.#noteReached(agent);
        if (!isLost && !isSilent) throw error;
        this.drop(agent);
        // what an earlier success left behind shows nothing about the bank
        if (error.isOfEarlierSuccess) {
          if (!connection.hasArrived) this.#mayResume = false;
          continue;
        }
        if (!connection.hasArrived) this.#mayResume = true;
        const isHelloLost = !this.#isReached && !connection.hasArrived;
        if (isHelloLost) this.#isClassical = isFirst;
        if (!isClosed && !(isSilent && isFirst)) throw error;
        closed += 1;
        if (connection.isJudgedLate) judgedLate += 1;
        error.isRejection = judgedLate === MAX_CLOSED && !answered.has(this.#key);
        if (closed === MAX_CLOSED) {
          if (isHelloLost) this.#isClassical = false;
          throw error;
        }
      }
    }
  }

  get #key(): string {
    return `${this.name} ${this.cert}`;
  }

  #noteReached(agent: Agent): void {
    if (agent !== this.#agent) return;
    this.#isReached = true;
    if (!this.#isClassical || this.#isLogged) return;
    this.#isLogged = true;
    this.logger.warn(
      { event: 'bank.tls-fallback', host: this.name },
      'the first TLS handshake with the bank failed; one with classical key exchange groups only (without X25519MLKEM768) succeeded, and the gateway keeps to them. A firewall on the way may drop a ClientHello of two segments',
    );
  }
}
