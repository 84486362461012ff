import { request as openRequest } from 'node:https';
import type { Agent } from 'node:http';
import { TLSSocket, type DetailedPeerCertificate } from 'node:tls';

/** What was learned of a connection on the way to its end, good or bad. */
export interface ConnectionFacts {
  /** The connection to the bank, or the tunnel through the proxy, stood. */
  reached: boolean;
  /** The TLS handshake went through. */
  secured: boolean;
  localAddress?: string;
  remoteAddress?: string;
  /** What the proxy answered to CONNECT. */
  proxyStatus?: number;
  tlsVersion?: string;
  cipher?: string;
  /** The server's certificates, its own first. */
  serverChain?: ServerCertificate[];
  transportMs?: number;
  tlsMs?: number;
}

export interface ServerCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly names?: string;
}

/** How long a server is given to refuse our certificate after the handshake, as TLS 1.3 has it. */
const ALERT_WAIT_MS = 400;

/**
 * Opens one connection the way every call does, sends nothing over it and closes it. Fills `facts` as it goes, so that
 * they are there when it fails; rejects with what failed, as the agent gave it.
 */
export async function probeConnection(agent: Agent, baseUrl: string, facts: ConnectionFacts): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const started = performance.now();
  const since = (from: number) => Math.round(performance.now() - from);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const host = hostname.replace(/^\[|\]$/g, '');
  const request = openRequest({ agent, host, port: port || 443, method: 'GET', path: '/' });
  let timer: NodeJS.Timeout | undefined;
  request.on('error', reject);
  request.on('proxyConnect', ({ statusCode }: { statusCode: number }) => {
    facts.proxyStatus = statusCode;
    if (statusCode === 200) facts.transportMs = since(started);
    facts.reached = statusCode === 200;
  });
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      facts.reached = true;
      facts.transportMs ??= since(started);
      if (socket.localAddress) facts.localAddress = socket.localAddress;
      if (socket.remoteAddress) facts.remoteAddress = socket.remoteAddress;
    };
    if (socket.connecting) socket.once('connect', onConnect);
    else onConnect();
    keepPeerFacts(socket, facts);
    socket.once('secureConnect', () => {
      facts.secured = true;
      facts.tlsMs = since(started) - (facts.transportMs ?? 0);
      describeTls(socket, facts);
      // a ticket is given to those who were let in
      socket.once('session', () => resolve());
      timer = setTimeout(resolve, ALERT_WAIT_MS);
      socket.once('end', () => reject(Object.assign(new Error('closed after the handshake'), { code: 'ECONNRESET' })));
      socket.resume();
    });
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    request.on('error', () => undefined);
    request.destroy();
  }
}

/** A server that is not trusted is gone when its error arrives; its certificate is looked at just before. */
function keepPeerFacts(socket: TLSSocket, facts: ConnectionFacts): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    if (error && !facts.serverChain) describeTls(socket, facts);
    return destroy(error);
  };
}

function describeTls(socket: TLSSocket, facts: ConnectionFacts): void {
  const version = socket.getProtocol();
  if (version) facts.tlsVersion = version;
  const cipher = socket.getCipher() as { name?: string } | undefined;
  if (cipher?.name) facts.cipher = cipher.name;
  const chain = toChain(socket.getPeerCertificate(true));
  if (chain.length > 0) facts.serverChain = chain;
}

function toChain(leaf: DetailedPeerCertificate): ServerCertificate[] {
  const chain: ServerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = leaf;
  const seen = new Set<string>();
  while (next?.fingerprint256 && !seen.has(next.fingerprint256)) {
    seen.add(next.fingerprint256);
    chain.push({
      subject: toName(next.subject),
      issuer: toName(next.issuer),
      validFrom: new Date(next.valid_from).toISOString(),
      validTo: new Date(next.valid_to).toISOString(),
      ...(next.subjectaltname && { names: next.subjectaltname }),
    });
    next = next.issuerCertificate;
  }
  return chain;
}

function toName(name: object): string {
  return Object.entries(name)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(', ');
}
