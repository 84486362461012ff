import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Egress } from '../egress/egress.js';
import { describeRoute, type RouteSettings } from '../egress/route.js';
import { parseCertificates } from '../config/pem-file.js';
import { toRouteFailure, toTlsFailure } from './connection-failure.js';
import { failTogether, type BankHost } from './hosts.js';
import { probeConnection, toLine, type Connection } from './probe-connection.js';
import type { Findings } from './walk.js';

/**
 * Opens one connection to each host as every call does, and reports the route: TCP, or the tunnel through the proxy.
 * Returns the connections, whose second half is for `checkTls`.
 */
export async function checkRoute(
  egress: Egress,
  hosts: readonly BankHost[],
  settings: RouteSettings,
  findings: Findings,
): Promise<readonly Connection[]> {
  const connections = await Promise.all(hosts.map((host) => probeConnection(egress, host)));
  // the handshake is part of the same connection, and counted in the next step
  findings.ms = Math.max(...connections.map(({ transportMs }) => transportMs));
  for (const connection of connections) {
    const { host, remoteAddress, remotePort, proxyStatus } = connection;
    connection.localAddress ??= settings.EGRESS_LOCAL_ADDRESS ?? (await sourceAddressTowards(host));
    const { localAddress } = connection;
    findings.facts[host.name] = {
      route: describeRoute(settings, host.url),
      ...(remoteAddress && { remoteAddress, remotePort }),
      ...(localAddress && {
        sourceAddress: localAddress,
        sourceAddressIs: 'the local address; behind a NAT or a proxy the bank sees another one',
      }),
      ...(proxyStatus !== undefined && { proxyStatus }),
    };
  }
  failTogether(connections.map((connection) => toRouteFailure(connection, settings)));
  return connections;
}

/** Reports the handshake, the server's certificate, and whether ours was accepted. */
export function checkTls(
  connections: readonly Connection[],
  { certificate: { thumbprint }, ca }: IdentityMaterial,
  findings: Findings,
): void {
  const roots = ca === null ? "Node's" : parseCertificates(ca, 'BANK_CA_FILE').map(({ subject }) => toLine(subject));
  findings.ms = Math.max(...connections.map(({ tlsMs }) => tlsMs));
  for (const { host, tlsVersion, cipher, serverChain } of connections) {
    findings.facts[host.name] = {
      ...(tlsVersion && { tlsVersion, cipher }),
      serverChain,
      ourThumbprint: thumbprint,
      trustedRoots: roots,
    };
  }
  failTogether(connections.map((connection) => toTlsFailure(connection, thumbprint)));
}

/**
 * The local address that this machine would leave by towards a host, by its routing table; undefined when it has none.
 * A UDP socket is pointed there and asked: nothing is sent.
 */
async function sourceAddressTowards({ hostname, port }: BankHost): Promise<string | undefined> {
  const socket = createSocket(isIP(hostname) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(port, hostname);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}
