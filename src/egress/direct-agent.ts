import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { bankTlsOptions, dialOptions, KEEP_ALIVE, type AgentOptions, type ClientTls } from './agent-options.js';
import { secureInTime } from './secure-in-time.js';

/** Connections straight to the bank, kept alive and resumed; DNS, TCP and TLS share one deadline. */
export class DirectAgent extends Agent {
  readonly #options: AgentOptions;

  constructor(tls: ClientTls, options: AgentOptions) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, options), ...dialOptions(options) });
    this.#options = options;
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    const { connectTimeoutMs, onSecure } = this.#options;
    return socket instanceof TLSSocket ? secureInTime(socket, connectTimeoutMs, onSecure) : socket;
  }
}
