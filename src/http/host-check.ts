/** A name, perhaps with a final dot, or an IP literal, and a port, which may be empty (RFC 3986 §3.2.3). */
const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::(?<port>\d{0,5}))?$/;

/**
 * Creates a check for a Host header: one of the allowed names, or the IP address that accepted the connection, with or without
 * a port. The address is safe: load balancers and kubelets send it, and a page that uses DNS rebinding cannot.
 */
export function createHostCheck(allowedHosts: readonly string[]): (host: string, localAddress?: string) => boolean {
  const allowed = new Set(allowedHosts);
  return (host, localAddress) => {
    const name = toName(host);
    if (name === null) return false;
    return allowed.has(name) || (localAddress !== undefined && name === toLiteral(localAddress));
  };
}

/** The name in a Host header, in lower case; null for a malformed header. */
function toName(host: string): string | null {
  const { name = null, port } = HOST.exec(host.toLowerCase())?.groups ?? {};
  const number = Number(port || 80);
  return number >= 1 && number <= 65_535 ? name : null;
}

/** A socket address as written in Host: IPv6 in brackets and without a zone, IPv4 unchanged. */
function toLiteral(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  return plain.includes(':') ? `[${plain.toLowerCase()}]` : plain;
}
