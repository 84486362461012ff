import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Egress } from '../egress/egress.js';
import { describeRoute, type RouteSettings } from '../egress/route.js';
import { parseCertificates } from '../config/pem-file.js';
import { toRouteFailure, toTlsFailure } from './connection-failure.js';
import { failTogether, lineFor, type BankHost } from './hosts.js';
import { probeConnection, type Connection } from './probe-connection.js';
import type { Findings } from './walk.js';

const LOCAL = 'the local address; behind a NAT or a proxy the bank sees another one';

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
    const { host, remoteAddress, remotePort, proxyStatus, transportMs: ms } = connection;
    connection.localAddress ??= settings.EGRESS_LOCAL_ADDRESS ?? (await sourceAddressTowards(host));
    const { localAddress } = connection;
    findings.facts[host.name] = {
      route: describeRoute(settings, host.url),
      ...(remoteAddress && { remoteAddress, remotePort }),
      ...(localAddress && { sourceAddress: localAddress, sourceAddressIs: LOCAL }),
      ...(proxyStatus !== undefined && { proxyStatus }),
      ms,
    };
    findings.lines.push(lineFor(host, toRouteLine(connection)));
  }
  if (connections.some(({ localAddress }) => localAddress)) findings.lines.push(`(${LOCAL})`);
  failTogether(connections.map((connection) => toRouteFailure(connection, settings)));
  return connections;
}

/** Reports the handshake, the server's certificate, and whether ours was accepted. */
export function checkTls(
  connections: readonly Connection[],
  { certificate: { thumbprint }, ca }: IdentityMaterial,
  findings: Findings,
): void {
  const roots = ca === null ? null : subjectsOf(ca);
  findings.ms = Math.max(...connections.map(({ tlsMs }) => tlsMs));
  for (const connection of connections) {
    const { host, tlsVersion, cipher, serverChain, tlsMs: ms } = connection;
    findings.facts[host.name] = { tlsVersion, cipher, serverChain, ourThumbprint: thumbprint, trustedRoots: roots, ms };
    findings.lines.push(...toTlsLines(connection).map((line) => lineFor(host, line)));
  }
  failTogether(connections.map((connection) => toTlsFailure(connection, { thumbprint, roots })));
}

function toRouteLine({ host, localAddress, remoteAddress, remotePort, proxyStatus }: Connection): string {
  const { proxy, address } = host;
  const to = proxy
    ? `proxy ${proxy.protocol}//${proxy.host}${proxyStatus === undefined ? '' : `, which answered ${proxyStatus} to CONNECT ${address}`}`
    : `${remoteAddress ? toAddress(remoteAddress, remotePort) : address}, direct`;
  return localAddress ? `from ${localAddress} to ${to}` : `to ${to}`;
}

const subjectsOf = (pem: string): string[] =>
  parseCertificates(pem, 'BANK_CA_FILE').map(({ subject }) => subject.replaceAll('\n', ', '));

const toAddress = (address: string, port: number | undefined) =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

function toTlsLines({ tlsVersion, cipher, serverChain }: Connection): string[] {
  const [leaf] = serverChain;
  if (!leaf) return ['the server sent no certificate'];
  return [
    ...(tlsVersion ? [`${tlsVersion}, ${cipher}`] : []),
    ...serverChain.map(
      ({ subject, validFrom, validTo }, index) =>
        `${index === 0 ? 'server' : '  by  '}  ${subject}, ${validFrom.slice(0, 10)} to ${validTo.slice(0, 10)}`,
    ),
    ...(leaf.names ? [`names   ${shortened(leaf.names)}`] : []),
  ];
}

function shortened(names: string): string {
  const all = names.split(', ');
  return all.length <= 5 ? names : `${all.slice(0, 5).join(', ')} and ${all.length - 5} more`;
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
