import type { DetailedPeerCertificate } from 'node:tls';

/** A certificate of a server as the doctor shows it. */
export interface ServerCertificate {
  readonly subject: string;
  readonly issuer: string;
  /** ISO. */
  readonly validFrom: string;
  readonly validTo: string;
  /** Its names, as in subjectAltName: "DNS:bank.example, IP Address:192.0.2.1". */
  readonly names?: string;
}

const MAX_CERTIFICATES = 10;
const MAX_LENGTH = 500;

/** The certificates that a server showed, its own first, up to the root if that is known; none when it showed none. */
export function toServerChain(leaf: DetailedPeerCertificate | null): ServerCertificate[] {
  const chain: ServerCertificate[] = [];
  const seen = new Set<string>();
  let next: DetailedPeerCertificate | null | undefined = leaf;
  while (next?.fingerprint256 && !seen.has(next.fingerprint256) && chain.length < MAX_CERTIFICATES) {
    seen.add(next.fingerprint256);
    chain.push({
      subject: toName(next.subject),
      issuer: toName(next.issuer),
      validFrom: toIso(next.valid_from),
      validTo: toIso(next.valid_to),
      ...(next.subjectaltname && { names: toPlain(next.subjectaltname) }),
    });
    next = next.issuerCertificate;
  }
  return chain;
}

function toName(name: object | undefined): string {
  return toPlain(
    Object.entries(name ?? {})
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(', '),
  );
}

/** Anybody can put anything into a certificate: what is shown of it is short, on one line and moves no cursor. */
const toPlain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, MAX_LENGTH);

function toIso(date: string): string {
  const parsed = new Date(date);
  return Number.isNaN(parsed.getTime()) ? 'unknown' : parsed.toISOString();
}
