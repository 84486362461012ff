import type { RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Settings } from '../config/settings.js';

/**
 * Our side of TLS with the bank, handed down by auth. It is shown to the bank only, never to a proxy.
 */
export interface ClientTls {
  /** PEM, PKCS#8, unencrypted. */
  readonly key: string;
  /** PEM, the leaf first, then its intermediates. */
  readonly cert: string;
  /** PEM of the only roots trusted for the bank; null for the runtime's own. */
  readonly ca: string | null;
}

/**
 * Connections are kept for the next call, but closed when idle for 30 s: before a firewall or a load balancer on the way
 * forgets them silently, and a call over one hangs until its deadline.
 */
export const KEEP_ALIVE = { keepAlive: true, timeout: 30_000 };

/** The settings of all connections of one egress. */
export type AgentSettings = Pick<Settings, 'BANK_TLS_MAX_VERSION' | 'BANK_CONNECT_TIMEOUT_MS' | 'EGRESS_LOCAL_ADDRESS'>;

/** Options of a call for the agent, beyond Node's. */
export interface CallOptions extends RequestOptions {
  /** Ends the opening of a connection for this call. Not Node's `signal`, which would stay with a socket others use later. */
  readonly callSignal?: AbortSignal | undefined;
}

/**
 * The TLS options of every connection to the bank: our certificate, its roots, TLS 1.2 up to BANK_TLS_MAX_VERSION, HTTP/1.1,
 * never unverified. Up to TLS 1.2 the bank may ask for the certificate after the handshake, by renegotiation.
 */
export function bankTlsOptions(tls: ClientTls, { BANK_TLS_MAX_VERSION: maxVersion }: AgentSettings) {
  return {
    key: tls.key,
    cert: tls.cert,
    ...(tls.ca !== null && { ca: tls.ca }),
    minVersion: 'TLSv1.2' as const,
    maxVersion: `TLSv${maxVersion}` as const,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  };
}

/**
 * How TCP connections are opened. Of several addresses each but the last gets a quarter of the connect deadline, not
 * Node's 250 ms, which a far one does not answer in. With a source address only addresses of its family are tried.
 */
export function dialOptions({ BANK_CONNECT_TIMEOUT_MS: timeoutMs, EGRESS_LOCAL_ADDRESS: localAddress }: AgentSettings) {
  return {
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.round(timeoutMs / 4)),
    ...(localAddress !== undefined && { localAddress, family: isIP(localAddress) }),
  };
}
