import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { bankTlsOptions, dialOptions, KEEP_ALIVE, type AgentOptions, type ClientTls } from './agent-options.js';
import { secureInTime } from './secure-in-time.js';

/** Connections straight to the bank, kept alive and resumed; DNS, TCP and TLS share one deadline. */
export class DirectAgent extends Agent {
  readonly #connectTimeoutMs: number;

  constructor(tls: ClientTls, options: AgentOptions) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, options), ...dialOptions(options) });
    this.#connectTimeoutMs = options.connectTimeoutMs;
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    return socket instanceof TLSSocket ? secureInTime(socket, this.#connectTimeoutMs) : socket;
  }
}
