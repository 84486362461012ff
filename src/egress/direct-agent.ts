import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { bankTlsOptions, dialOptions, KEEP_ALIVE, type AgentSettings, type ClientTls } from './agent-options.js';
import { secureInTime } from './secure-in-time.js';

/** Connections straight to the bank, kept alive and resumed; DNS, TCP and TLS share one deadline. */
export class DirectAgent extends Agent {
  readonly #connectTimeoutMs: number;

  constructor(tls: ClientTls, settings: AgentSettings) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, settings), ...dialOptions(settings) });
    this.#connectTimeoutMs = settings.BANK_CONNECT_TIMEOUT_MS;
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    return socket instanceof TLSSocket ? secureInTime(socket, this.#connectTimeoutMs) : socket;
  }
}
