import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { ClientTls } from './client-tls.js';
import { secureInTime } from './secure-in-time.js';

export interface AgentOptions {
  readonly connectTimeoutMs: number;
  readonly localAddress: string | null;
}

/** The TLS options of every connection to the bank: our certificate, its roots, TLS 1.2 or later, never unverified. */
export function bankTlsOptions(tls: ClientTls) {
  return {
    key: tls.key,
    cert: tls.cert,
    ...(tls.ca !== null && { ca: tls.ca }),
    minVersion: 'TLSv1.2' as const,
    rejectUnauthorized: true,
  };
}

/** Connections straight to the bank, kept alive and resumed; DNS, TCP and TLS share one deadline. */
export class DirectAgent extends Agent {
  readonly #connectTimeoutMs: number;

  constructor(tls: ClientTls, options: AgentOptions) {
    super({
      keepAlive: true,
      scheduling: 'lifo',
      ...bankTlsOptions(tls),
      ...(options.localAddress !== null && { localAddress: options.localAddress }),
    });
    this.#connectTimeoutMs = options.connectTimeoutMs;
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    return socket instanceof TLSSocket ? secureInTime(socket, this.#connectTimeoutMs) : socket;
  }
}
