import type { Agent } from 'node:http';
import type { Logger } from 'pino';
import type { Clock, Instant } from '../time/clock.js';
import { CallFailed, type Hello } from './connection.js';

/** Maximum age of a host's connections, tunnels and TLS session. A bank that moves is followed within this time. */
const MAX_AGE_MS = 60_000;

/** An agent with its connections and its session. */
interface Kept {
  readonly agent: Agent;
  readonly hello: Hello;
  readonly since: Instant;
}

/** Host and certificate of every bank that has responded in this process; a new password creates a new egress. */
const answered = new Set<string>();

/** The connections to one host of the bank. The agent keeps connections and session; dropping it forgets them. */
export class HostConnections {
  #kept: Kept | null = null;
  /** How calls begin; null before a TLS handshake has succeeded. */
  #start: Hello | null = null;
  #isLogged = false;

  /**
   * @param name host and port
   * @param cert our certificate
   * @param isHybrid true if a handshake offers the hybrid group too
   */
  constructor(
    private readonly name: string,
    private readonly cert: string,
    private readonly createAgent: (hello: Hello) => Agent,
    private readonly isHybrid: boolean,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Notes that the host has answered our certificate, whatever it said. */
  noteAnswered(): void {
    answered.add(this.#key);
  }

  /** Forgets connections, session and groups (SIGHUP). Calls in flight continue unchanged. */
  forget(): void {
    this.drop();
    this.#start = null;
  }

  /** Forgets session and kept connections; those in use close when their call is done. */
  drop(): void {
    if (!this.#kept) return;
    const { agent } = this.#kept;
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
    this.#kept = null;
  }

  /**
   * Runs `attempt` over what an earlier call left, then at most twice over a fresh connection with a full handshake. Each
   * follows if the one before was lost before the first byte of an answer. If no byte arrived at all, it begins
   * TLS more plainly: without the session, or, before any handshake has succeeded, with classical groups only. If both fresh
   * ones are closed as after a rejection of our certificate, one over TLS 1.2 checks that. The next call begins with
   * what worked.
   * @param isFresh true to begin with a fresh connection
   * @throws CallFailed, and whatever else `attempt` throws
   */
  async reach<T>(attempt: (agent: Agent) => Promise<T>, signal: AbortSignal, isFresh = false): Promise<T> {
    if (isFresh || (this.#kept && this.clock.since(this.#kept.since) >= MAX_AGE_MS)) this.drop();
    let used = this.#kept ?? this.#create(this.#start ?? 'any');
    let isFirst = true;
    /** The fresh connection that was lost first. */
    let lost: CallFailed | null = null;
    for (;;) {
      try {
        const result = await attempt(used.agent);
        this.#noteReached(used);
        return result;
      } catch (error) {
        if (!(error instanceof CallFailed && error.connection) || signal.aborted) throw error;
        const { connection, isClosed, isLost, isSilent } = error;
        if (connection.isSecure) this.#noteReached(used);
        if (!isLost && !isSilent) throw error;
        if (used === this.#kept) this.drop();
        // what an earlier success left behind shows nothing about the bank
        const isOld = isFirst && error.isOfEarlierSuccess;
        const mayBeClassical = this.isHybrid && this.#start === null && used.hello !== 'classical';
        const isHelloLost = !connection.hasArrived && (isOld || mayBeClassical);
        if (!isOld) {
          const isJudgedTwice = lost?.connection?.isJudgedLate === true && connection.isJudgedLate;
          error.isRejection = isJudgedTwice && !answered.has(this.#key) && !(await this.#isAccepted(attempt));
          if (lost || !(isClosed || (isSilent && isHelloLost))) throw error;
          lost = error;
        }
        const plainer = isOld ? 'full' : 'classical';
        used = this.#create(isHelloLost ? plainer : used.hello);
        isFirst = false;
      }
    }
  }

  /** True if over TLS 1.2, where the bank judges our certificate first, the connection is lost only after the handshake. */
  async #isAccepted(attempt: (agent: Agent) => Promise<unknown>): Promise<boolean> {
    const agent = this.createAgent('TLS 1.2');
    agent.maxFreeSockets = 0;
    return attempt(agent).then(
      () => false,
      (error: unknown) => error instanceof CallFailed && error.isClosed && error.connection?.isSecure === true,
    );
  }

  get #key(): string {
    return `${this.name} ${this.cert}`;
  }

  #create(hello: Hello): Kept {
    this.drop();
    const agent = this.createAgent(hello);
    return (this.#kept = { agent, hello, since: this.clock.now() });
  }

  #noteReached(used: Kept): void {
    if (used !== this.#kept) return;
    this.#start = used.hello;
    if (used.hello !== 'classical' || this.#isLogged) return;
    this.#isLogged = true;
    this.logger.warn(
      { event: 'bank.tls-fallback', host: this.name },
      'the first TLS handshake with the bank failed; one with classical key exchange groups only (without X25519MLKEM768) succeeded, and the gateway keeps to them. A firewall on the way may drop a ClientHello of two segments',
    );
  }
}
