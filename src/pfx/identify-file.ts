import { X509Certificate } from 'node:crypto';
import { type Asn1, isInteger, isOctets, isSequence, Malformed, oidOf, parseAsn1 } from './asn1.js';
import { identifyText } from './identify-text.js';
import { announcedBytes, startsLikePfx } from './pfx-header.js';
import { GIVE_PFX, PfxUnreadable, toNotPfx, type SettingNames } from './pfx-unreadable.js';
import { PFX_FROM_CER, PFX_FROM_DER_KEY, PFX_FROM_JCEKS, PFX_FROM_JKS, PFX_FROM_P7B } from './remedy.js';

const PKCS7 = /^1\.2\.840\.113549\.1\.7\.\d$/;

const UNPACK = 'unpack it and give the PFX that is in it';

/** First bytes in hex, what such a file is, what to do. */
const MAGIC: [string, string, string][] = [
  ['feedfeed', 'a Java keystore (JKS)', `convert it: ${PFX_FROM_JKS}`],
  ['cececece', 'a Java keystore (JCEKS)', `convert it: ${PFX_FROM_JCEKS}`],
  ['504b0304', 'a ZIP archive', UNPACK],
  ['1f8b', 'a gzip archive', UNPACK],
  ['377abcaf', 'a 7-Zip archive', UNPACK],
  ['52617221', 'a RAR archive', UNPACK],
  ['25504446', 'a PDF document', 'give the PFX instead'],
  ['30efbfbd', 'a PFX that was saved as text, which destroyed it', 'copy it again, in binary mode'],
];

/** What the file is, when it is no whole PFX: the refusal that names it; undefined when it looks like one. */
export function identifyFile(bytes: Buffer, names: SettingNames): PfxUnreadable | undefined {
  if (bytes.length === 0) return new PfxUnreadable('not-pfx', 'The PFX file is empty. Copy it again.');
  for (const [start, what, remedy] of MAGIC) {
    if (bytes.toString('hex', 0, 4).startsWith(start)) return toNotPfx(what, remedy);
  }
  return identifyText(bytes, names) ?? toCutOff(bytes) ?? identifyDer(bytes);
}

function toCutOff(bytes: Buffer): PfxUnreadable | undefined {
  const announced = announcedBytes(bytes);
  if (announced === undefined || announced <= bytes.length) return undefined;
  return new PfxUnreadable(
    'cut-off',
    `The PFX is cut off: it announces ${announced} bytes and has ${bytes.length}. Copy it again, in binary mode.`,
  );
}

/** Binary that is no PFX, named by its structure; undefined for a PFX. */
function identifyDer(bytes: Buffer): PfxUnreadable | undefined {
  const root = parseRoot(bytes);
  if (root instanceof PfxUnreadable) return root;
  const [first, second, third] = childrenOrNone(root);

  if (startsLikePfx(bytes) || (isInteger(first) && PKCS7.test(firstOid(second)))) return undefined;
  if (isX509(bytes))
    return toNotPfx('a certificate without its private key (.cer)', `put both in one: ${PFX_FROM_CER}`);
  if (PKCS7.test(firstOid(root))) {
    return toNotPfx('a PKCS#7 bundle of certificates (.p7b) without a private key', `put both in one: ${PFX_FROM_P7B}`);
  }
  const isKey =
    (isInteger(first) && firstOid(second) !== '' && isOctets(third)) || // PKCS#8
    (firstOid(first) !== '' && isOctets(second)) || // PKCS#8, encrypted
    (isInteger(first) && isOctets(second)) || // EC (RFC 5915)
    (isInteger(first) && isInteger(second) && isInteger(third)); // RSA (PKCS#1)
  if (isKey) return toNotPfx('a private key without its certificate', `put both in one: ${PFX_FROM_DER_KEY}`);
  if (isSequence(first) && isInteger(childrenOrNone(first)[0])) {
    return toNotPfx('a certificate request', 'give the certificate that was made for it, with its key, as a PFX');
  }
  return toNotPfx('of an unknown kind', GIVE_PFX);
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
