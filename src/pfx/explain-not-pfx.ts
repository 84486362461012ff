import { X509Certificate } from 'node:crypto';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { PFX_FROM_JKS, PFX_FROM_PEM } from './remedy.js';

/** Kinds of other files: their text as latin1, without NUL bytes and byte order marks; what they are; what to do. */
const KINDS: readonly (readonly [looksLike: (text: string) => boolean, what: string, remedy: string])[] = [
  [(text) => text.startsWith('\xfe\xed\xfe\xed'), 'a Java keystore (JKS)', `Convert it: ${PFX_FROM_JKS}.`],
  [
    (text) => text.startsWith('0\xef\xbf\xbd'),
    'a PFX that was saved as text, which destroyed it',
    'Copy it again in binary mode.',
  ],
  [
    (text) => startsLikePfx(Buffer.from(text.replace(/-----[^-]*-----/, ''), 'base64')),
    'a PFX as base64 text',
    'Set it as BANK_PFX_BASE64, or decode it: base64 -d old.txt > client.pfx.',
  ],
  [
    (text) => /-----BEGIN [A-Z0-9 ]{1,40}-----/.test(text),
    'PEM text',
    `Use PEM files instead of a PFX: certificate chain as BANK_CERT_FILE, private key as BANK_KEY_FILE. Or convert them: ${PFX_FROM_PEM}.`,
  ],
];

const UNKNOWN = [
  '',
  'of an unknown kind',
  'Use the PFX (.pfx or .p12) that the bank or Windows exported, copied in binary mode.',
] as const;

/** The refusal that names what a file is if it is not a whole PFX; null if it looks like one. */
export function explainNotPfx(bytes: Buffer): CertificateUnreadable | null {
  if (bytes.length === 0) return new CertificateUnreadable('not-pfx', 'The PFX file is empty.', 'Copy it again.');
  if (startsLikePfx(bytes)) return explainCutOff(bytes);
  if (isX509(bytes)) return toNotPfx('a certificate without its private key (.cer)', `Use both: ${PFX_FROM_PEM}.`);
  // the text of Windows PowerShell's ">" is UTF-16
  const text = bytes
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^(\xff\xfe|\xef\xbb\xbf)+/, '');
  const [, what, remedy] = KINDS.find(([looksLike]) => looksLike(text)) ?? UNKNOWN;
  return toNotPfx(what, remedy);
}

function explainCutOff(bytes: Buffer): CertificateUnreadable | null {
  const header = headerLength(bytes);
  const announced = header === 2 ? 0 : header + bytes.readUIntBE(2, header - 2);
  if (announced <= bytes.length) return null;
  return new CertificateUnreadable(
    'cut-off',
    `The PFX is cut off: it should have ${announced} bytes, and has ${bytes.length}.`,
    'Copy it again in binary mode.',
  );
}

function toNotPfx(what: string, remedy: string): CertificateUnreadable {
  return new CertificateUnreadable('not-pfx', `The file is not a PFX but ${what}.`, remedy);
}

/** True for a SEQUENCE with version 3 (RFC 7292, 4). No PFX is shorter than 128 bytes. */
function startsLikePfx(bytes: Buffer): boolean {
  const isLong = bytes[0] === 0x30 && bytes[1] !== undefined && bytes[1] >= 0x80 && bytes[1] <= 0x84;
  return isLong && bytes.toString('hex', headerLength(bytes), headerLength(bytes) + 3) === '020103';
}

/** Length of the header of a SEQUENCE; 2 for an open length (BER). */
const headerLength = (bytes: Buffer): number => 2 + (bytes.readUInt8(1) & 0x7f);

function isX509(bytes: Buffer): boolean {
  try {
    return bytes[0] === 0x30 && new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}
