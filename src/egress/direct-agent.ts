import { Agent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import {
  bankTlsOptions,
  dialOptions,
  KEEP_ALIVE,
  type AgentSettings,
  type CallOptions,
  type ClientTls,
} from './agent-options.js';
import { secureInTime } from './secure-in-time.js';

/** Direct connections to the bank, kept alive and resumed. One deadline spans DNS, TCP and TLS. */
export class DirectAgent extends Agent {
  readonly #connectTimeoutMs: number;

  constructor(tls: ClientTls, settings: AgentSettings) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, settings), ...dialOptions(settings) });
    this.#connectTimeoutMs = settings.BANK_CONNECT_TIMEOUT_MS;
  }

  override createConnection(options: CallOptions): TLSSocket {
    return secureInTime(super.createConnection(options) as TLSSocket, this.#connectTimeoutMs);
  }
}
