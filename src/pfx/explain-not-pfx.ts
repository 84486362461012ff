import { X509Certificate } from 'node:crypto';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { PFX_FROM_JKS, PFX_FROM_PEM } from './remedy.js';

/** Version 3, with which every PFX begins (RFC 7292, 4). */
const VERSION = Buffer.from([0x02, 0x01, 0x03]);

/** First bytes in hex, what such a file is, what to do. */
const MAGIC: [start: string, what: string, remedy: string][] = [
  ['feedfeed', 'a Java keystore (JKS)', `Convert it: ${PFX_FROM_JKS}.`],
  ['504b0304', 'a ZIP archive', 'Unpack it and use the PFX in it.'],
  ['30efbfbd', 'a PFX that was saved as text, which destroyed it', 'Copy it again in binary mode.'],
];

/** The refusal that names what a file is if it is not a whole PFX; null if it looks like one. */
export function explainNotPfx(bytes: Buffer): CertificateUnreadable | null {
  if (bytes.length === 0) return new CertificateUnreadable('not-pfx', 'The PFX file is empty.', 'Copy it again.');
  const magic = MAGIC.find(([start]) => bytes.toString('hex', 0, 4) === start);
  if (magic) return toNotPfx(magic[1], magic[2]);
  if (startsLikePfx(bytes)) return explainCutOff(bytes);
  if (isX509(bytes)) return toNotPfx('a certificate without its private key (.cer)', `Use both: ${PFX_FROM_PEM}.`);
  return explainText(bytes);
}

function explainCutOff(bytes: Buffer): CertificateUnreadable | null {
  const header = headerLength(bytes) as number;
  const announced = header === 2 ? 0 : header + bytes.readUIntBE(2, header - 2);
  if (announced <= bytes.length) return null;
  return new CertificateUnreadable(
    'cut-off',
    `The PFX is cut off: it should have ${announced} bytes, and has ${bytes.length}.`,
    'Copy it again in binary mode.',
  );
}

function explainText(bytes: Buffer): CertificateUnreadable {
  // the text of Windows PowerShell's ">" is UTF-16
  const text = bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8').replace(/^\ufeff/, '');
  const blocks = text.match(/-----BEGIN [A-Z0-9 ]{1,40}-----/g);
  const base64 = text.replace(/-----[^-]*-----|\s+/g, '');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(base64) && startsLikePfx(Buffer.from(base64.slice(0, 40), 'base64'))) {
    return toNotPfx('a PFX as base64 text', 'Set it as BANK_PFX_BASE64, or decode it: base64 -d old.txt > client.pfx.');
  }
  if (blocks) {
    return toNotPfx(
      'PEM text',
      `Use PEM files instead of a PFX: certificate chain as BANK_CERT_FILE, private key as BANK_KEY_FILE. Or convert them: ${PFX_FROM_PEM}.`,
    );
  }
  if (/^\s*<(!doctype html|html|head|body)/i.test(text)) {
    return toNotPfx('an HTML page', 'Download the PFX again: most likely a login or error page was saved.');
  }
  return toNotPfx('of an unknown kind', 'Use the PFX (.pfx or .p12) that the bank or Windows exported.');
}

function toNotPfx(what: string, remedy: string): CertificateUnreadable {
  return new CertificateUnreadable('not-pfx', `The file is not a PFX but ${what}.`, remedy);
}

function startsLikePfx(bytes: Buffer): boolean {
  const header = headerLength(bytes);
  return header !== null && bytes.subarray(header, header + VERSION.length).equals(VERSION);
}

/** Length of the header of a SEQUENCE of at least 128 bytes (no PFX is shorter); 2 for an open length (BER); null if it is none. */
function headerLength(bytes: Buffer): number | null {
  const [tag, length] = bytes;
  if (tag !== 0x30 || length === undefined || length < 0x80 || length > 0x84) return null;
  const header = 2 + (length & 0x7f);
  return bytes.length < header ? null : header;
}

function isX509(bytes: Buffer): boolean {
  try {
    return bytes[0] === 0x30 && new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}
