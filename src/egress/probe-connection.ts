import { request as openRequest } from 'node:https';
import type { Agent } from 'node:http';
import { TLSSocket } from 'node:tls';
import { toServerChain, type ServerCertificate } from './server-chain.js';

/** The facts of a connection until it was established or failed. */
export interface ConnectionFacts {
  /** The connection to the bank, or the tunnel through the proxy, stood. */
  reached: boolean;
  /** The TLS handshake went through. */
  secured: boolean;
  localAddress?: string;
  /** Where the connection leads: the bank, or the proxy. */
  remoteAddress?: string;
  remotePort?: number;
  /** The proxy's answer to CONNECT. */
  proxyStatus?: number;
  tlsVersion?: string;
  cipher?: string;
  /** The server's certificates, its own first. */
  serverChain?: ServerCertificate[];
  /** Until the connection stood, or until it failed. */
  transportMs?: number;
  /** From there until the handshake was through, or failed. */
  tlsMs?: number;
}

/** Under TLS 1.3 a server refuses our certificate only after the handshake; what it has to say follows at once. */
const REFUSAL_WAIT_MS = 400;
/** A server that accepted us sends a ticket; some send it first and check the certificate then. */
const AFTER_TICKET_MS = 100;
const DISTANT_MAX_MS = 2000;

/**
 * Opens one connection the way every call does, sends nothing over it and closes it. Fills `facts` as it goes, so that
 * they are there when it fails; rejects with what failed, as the agent gave it.
 */
export async function probeConnection(agent: Agent, baseUrl: string, facts: ConnectionFacts): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const host = hostname.replace(/^\[|\]$/g, '');
  const request = openRequest({ agent, host, port: port || 443, method: 'GET', path: '/' });
  let timer: NodeJS.Timeout | undefined;
  request.on('error', reject);
  request.on('proxyConnect', ({ statusCode }: { statusCode: number }) => {
    facts.proxyStatus = statusCode;
    if (statusCode !== 200) return;
    facts.transportMs = since();
    facts.reached = true;
  });
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      facts.reached = true;
      facts.transportMs ??= since();
      if (socket.localAddress) facts.localAddress = socket.localAddress;
      if (socket.remoteAddress) facts.remoteAddress = socket.remoteAddress;
      if (socket.remotePort) facts.remotePort = socket.remotePort;
    };
    if (socket.connecting) socket.once('connect', onConnect);
    // one that failed at once, as with a source address that is not ours, never stood
    else if (!socket.destroyed) onConnect();
    keepPeerFacts(socket, facts);
    socket.once('secureConnect', () => {
      facts.secured = true;
      facts.tlsMs = since() - (facts.transportMs ?? 0);
      describeTls(socket, facts);
      // the refusal needs a way there and back, as the handshake did
      const distant = Math.min(3 * facts.tlsMs, DISTANT_MAX_MS);
      const waitAtMost = (ms: number) => {
        clearTimeout(timer);
        timer = setTimeout(resolve, Math.max(ms, distant));
      };
      // up to TLS 1.2 our certificate was judged within the handshake, and tickets were given
      waitAtMost(facts.tlsVersion === 'TLSv1.3' ? REFUSAL_WAIT_MS : AFTER_TICKET_MS);
      socket.once('session', () => waitAtMost(AFTER_TICKET_MS));
      socket.once('end', () => reject(Object.assign(new Error('closed after the handshake'), { code: 'ECONNRESET' })));
    });
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    if (facts.reached) facts.tlsMs ??= since() - (facts.transportMs ?? 0);
    else facts.transportMs = since();
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

/** Before the server has shown its certificate, version and cipher are only our offer. */
function describeTls(socket: TLSSocket, facts: ConnectionFacts): void {
  const chain = toServerChain(socket.getPeerCertificate(true));
  if (chain.length === 0) return;
  facts.serverChain = chain;
  const version = socket.getProtocol();
  if (version) facts.tlsVersion = version;
  const cipher = socket.getCipher() as { name?: string } | undefined;
  if (cipher?.name) facts.cipher = cipher.name;
}
