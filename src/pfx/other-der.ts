import { X509Certificate } from 'node:crypto';
import { startsLikePfx } from './announced-bytes.js';
import { type Asn1, isInteger, isOctets, isSequence, Malformed, oidOf, parseAsn1 } from './asn1.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { PFX_FROM_CER, PFX_FROM_DER_KEY, PFX_FROM_P7B } from './remedy.js';

const PKCS7 = /^1\.2\.840\.113549\.1\.7\.\d$/;

/** Binary that is no PFX, named by its structure; undefined for a PFX. */
export function toOtherDer(bytes: Buffer): PfxUnreadable | undefined {
  const refuse = (what: string, remedy: string): PfxUnreadable =>
    new PfxUnreadable('not-pfx', `The file is ${what}, not a PFX; ${remedy}.`);
  const root = parseRoot(bytes);
  if (root instanceof PfxUnreadable) return root;
  const [first, second, third] = childrenOrNone(root);

  if (startsLikePfx(bytes) || (isInteger(first) && PKCS7.test(firstOid(second)))) return undefined;
  if (isX509(bytes)) return refuse('a certificate without its private key (.cer)', `put both in one: ${PFX_FROM_CER}`);
  if (PKCS7.test(firstOid(root))) {
    return refuse('a PKCS#7 bundle of certificates (.p7b) without a private key', `put both in one: ${PFX_FROM_P7B}`);
  }
  const isKey =
    (isInteger(first) && firstOid(second) !== '' && isOctets(third)) || // PKCS#8
    (firstOid(first) !== '' && isOctets(second)) || // PKCS#8, encrypted
    (isInteger(first) && isOctets(second)) || // EC (RFC 5915)
    (isInteger(first) && isInteger(second) && isInteger(third)); // RSA (PKCS#1)
  if (isKey) return refuse('a private key without its certificate', `put both in one: ${PFX_FROM_DER_KEY}`);
  if (isSequence(first) && isInteger(childrenOrNone(first)[0])) {
    return refuse('a certificate request', 'give the certificate that was made for it, with its key, as a PFX');
  }
  return refuse("of a kind we don't know", 'give the PFX (.pfx or .p12) that the bank or Windows exported');
}

function parseRoot(bytes: Buffer): Asn1 | PfxUnreadable {
  if (bytes[0] !== 0x30) {
    return new PfxUnreadable(
      'not-pfx',
      'The file is no PFX and nothing else we know. Give the PFX (.pfx or .p12) that the bank or Windows exported.',
    );
  }
  try {
    return parseAsn1(bytes);
  } catch (error) {
    return error instanceof Malformed && error.tooShort
      ? new PfxUnreadable('cut-off', 'The PFX is cut off or damaged: bytes are missing. Copy it again, in binary mode.')
      : new PfxUnreadable('damaged', 'The PFX is damaged: it breaks off in disorder. Copy it again, in binary mode.');
  }
}

function childrenOrNone(node: Asn1 | undefined): Asn1[] {
  return node !== undefined && Array.isArray(node.value) ? node.value : [];
}

function firstOid(node: Asn1 | undefined): string {
  try {
    return oidOf(childrenOrNone(node)[0]);
  } catch {
    return '';
  }
}

function isX509(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}
