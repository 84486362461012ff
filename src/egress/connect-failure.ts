/** Why there is no TLS connection to the bank; egress-internal, becomes a code in wire-failure.ts. */
export type ConnectStage = 'connect-timeout' | 'untrusted' | 'proxy-refused' | 'proxy-unavailable' | 'proxy-timeout';

export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  constructor(
    readonly stage: ConnectStage,
    message: string,
    options: ErrorOptions & { readonly proxyStatus?: number } = {},
  ) {
    super(message, options);
    this.proxyStatus = options.proxyStatus;
  }
  /** What the proxy answered to CONNECT. */
  readonly proxyStatus: number | undefined;
}
