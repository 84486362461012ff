import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { childrenOf, octetsOf, oidOf, parseAsn1 } from './asn1.js';
import { isSelfSigned, issued, toDistinguishedName } from './certificate-files.js';

const KEY_USAGE = '2.5.29.15';
const ANY_PURPOSE = '2.5.29.37.0';

const LOOPBACK = /^(?:localhost|127\..*|\[::1\])$/;

/** By extended key usage (RFC 5280, 4.2.1.12). */
const USES = {
  client: {
    purpose: '1.3.6.1.5.5.7.3.2',
    words: 'client authentication',
    checker: 'The bank',
    complete: 'If the bank rejects the certificate, export it again with all certificates of its path.',
  },
  server: {
    purpose: '1.3.6.1.5.5.7.3.1',
    words: 'server authentication',
    checker: 'A client',
    complete: 'Unless it is a root that all clients trust, add it to the file.',
  },
} as const;

interface ChainContext {
  readonly use: keyof typeof USES;
  readonly now: Date;
  readonly roots?: readonly X509Certificate[];
  /** Names and addresses that clients use for the server. */
  readonly hosts?: readonly string[];
}

/** Why the other side may reject a certificate, its own dates aside: one text each. `issuers` go upwards. */
export function examineChain(
  leaf: X509Certificate,
  issuers: readonly X509Certificate[],
  { use, now, roots = [], hosts = [] }: ChainContext,
): string[] {
  const { purpose, words, checker, complete } = USES[use];
  const ask = `${checker} will most likely reject it: ask for one that does.`;
  const warnings = issuers.flatMap((issuer) => {
    const what = `The certificate of the issuer ${toDistinguishedName(issuer.subject)}`;
    // an anchor need not say that it is a CA: old roots do not
    const isAuthority = issuer.ca || isSelfSigned(issuer);
    const problem = isAuthority ? whyNotValid(issuer, now) : 'is not a CA certificate';
    return problem ? `${what} ${problem}. ${checker} may reject the chain: get the current one.` : [];
  });
  const isFromRoot = isSelfSigned(leaf) || roots.some((root) => isSelfSigned(root) && issued(root, leaf));
  if (issuers.length === 0 && !isFromRoot) {
    const issuer = toDistinguishedName(leaf.issuer);
    warnings.push(`The chain is incomplete: the certificate of the issuer, ${issuer}, is missing. ${complete}`);
  }
  if (!allowsPurpose(leaf, purpose)) {
    warnings.push(`The certificate does not allow ${words} (extended key usage ${purpose} is missing). ${ask}`);
  }
  if (!allowsSignatures(leaf)) {
    warnings.push(`The certificate does not allow digital signatures (its key usage), which TLS needs. ${ask}`);
  }
  const others = hosts.filter((host) => !isFor(leaf, host));
  // one for a name may be used on this machine too, by a client that expects that name
  const wrong = others.length === hosts.length ? others : others.filter((host) => !LOOPBACK.test(host));
  if (wrong.length > 0) {
    const names = leaf.subjectAltName ?? 'no name';
    warnings.push(`The certificate is for ${names}, not for ${wrong.join(', ')}. ${checker} rejects it there.`);
  }
  return warnings;
}

/** The same for the certificate of our listener, and its own dates. */
export const examineListener = (
  { certificate, issuers }: { readonly certificate: X509Certificate; readonly issuers: readonly X509Certificate[] },
  hosts: readonly string[],
  now: Date,
): string[] => [
  ...examineDates([certificate], now),
  ...examineChain(certificate, issuers, { use: 'server', now, hosts }),
];

/** Certificates that are not valid now, with subject and date: one sentence each. */
export const examineDates = (certificates: readonly X509Certificate[], now: Date): string[] =>
  certificates.flatMap((each) => {
    const problem = whyNotValid(each, now);
    return problem ? `The certificate ${toDistinguishedName(each.subject)} ${problem}.` : [];
  });

export const allowsClientAuth = (certificate: X509Certificate): boolean =>
  allowsPurpose(certificate, USES.client.purpose);

export const isValid = ({ validFromDate, validToDate }: X509Certificate, now: Date): boolean =>
  validFromDate <= now && now <= validToDate;

/** Continues a sentence that begins with the certificate; null if it is valid. */
export function whyNotValid(certificate: X509Certificate, now: Date): string | null {
  const { validFromDate: from, validToDate: to } = certificate;
  if (isValid(certificate, now)) return null;
  return now > to ? `expired on ${to.toISOString()}` : `is not valid before ${from.toISOString()}`;
}

function allowsPurpose(certificate: X509Certificate, purpose: string): boolean {
  // undefined if the extension is absent, whatever the type says
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.includes(purpose) || usages.includes(ANY_PURPOSE);
}

/** True if the key usage (RFC 5280, 4.2.1.3), which Node does not show, has digitalSignature, is absent or unreadable. */
function allowsSignatures({ raw }: X509Certificate): boolean {
  try {
    const extensions = childrenOf(childrenOf(parseAsn1(raw))[0]).find(({ tag }) => tag === 0xa3);
    const found = childrenOf(childrenOf(extensions)[0]).find((each) => oidOf(childrenOf(each)[0]) === KEY_USAGE);
    // the bits follow the number of unused ones
    const [, bits = 0] = parseAsn1(octetsOf(childrenOf(found).at(-1))).content;
    return (bits & 0x80) !== 0;
  } catch {
    return true;
  }
}

/** Names in the subject do not count, as in browsers. */
function isFor(certificate: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) return certificate.checkIP(address) !== undefined;
  return certificate.checkHost(address, { subject: 'never' }) !== undefined;
}
