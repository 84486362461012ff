import type { X509Certificate } from 'node:crypto';

/** The stage at which a connection failed. */
type ConnectStage =
  | 'connect-timeout'
  /** The certificate of the server is not trusted. */
  | 'untrusted'
  /** The proxy's answer to CONNECT is not a tunnel, cannot be read, or has no end. */
  | 'proxy-refused'
  | 'proxy-unavailable'
  | 'proxy-timeout'
  /** The proxy answered 200, and the tunnel was closed before any data arrived. */
  | 'tunnel-closed'
  /** The proxy answered 200, and the bytes in the tunnel are not TLS. */
  | 'tunnel-noise'
  /** The call that requested the connection has ended. */
  | 'given-up';

/** The reason why there is no TLS connection to the bank. Internal to egress: wire-failure.ts turns it into a code. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  constructor(
    readonly stage: ConnectStage,
    cause?: Error,
    /** Status of the proxy's response to CONNECT. */
    readonly proxyStatus?: number,
    /** The certificate that is not trusted; its socket is gone when this arrives. */
    readonly server?: X509Certificate,
  ) {
    super(stage, { cause });
  }
}
