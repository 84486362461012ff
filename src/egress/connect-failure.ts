/** What kept a connection from coming about. */
type ConnectStage =
  | 'connect-timeout'
  | 'untrusted'
  | 'proxy-refused'
  | 'proxy-unavailable'
  | 'proxy-timeout'
  /** The proxy said 200, and the tunnel was closed before a byte came through it. */
  | 'tunnel-closed'
  /** The proxy said 200, and what came through the tunnel is not TLS. */
  | 'tunnel-noise'
  /** The call that asked for it has ended. */
  | 'given-up';

/** Why there is no TLS connection to the bank. Internal to egress: wire-failure.ts makes a code of it. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  constructor(
    readonly stage: ConnectStage,
    message: string,
    options: ErrorOptions & { readonly proxyStatus?: number | undefined } = {},
  ) {
    super(message, options);
    this.proxyStatus = options.proxyStatus;
  }
  /** What the proxy answered to CONNECT. */
  readonly proxyStatus: number | undefined;
}
