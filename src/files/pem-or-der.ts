import { X509Certificate } from 'node:crypto';
import { childrenOf, isSequence, parseAsn1, type Asn1 } from './asn1.js';
import { decodeText } from './small-file.js';

type Kind = 'certificate' | 'key' | 'pfx' | 'pkcs7' | 'damaged' | 'empty' | 'other';

export interface Block {
  readonly kind: Kind;
  /** Its kind, in words: "a certificate", "an HTML page". */
  readonly words: string;
  readonly der: Buffer;
  /** PEM, re-encoded from the parsed object, so that TLS gets exactly what was checked. */
  readonly pem: string;
}

/** Base64 text may contain more base64, or PEM. */
const MAX_LAYERS = 4;
const PEM = /-----BEGIN ([A-Z0-9 #]{1,40})-----(.*?)(?:-----END \1-----|(?=-----BEGIN )|$)/gs;

/**
 * Everything in a file, at least one block: PEM in any order, concatenated, indented, surrounded by text or in
 * certutil's armor; DER; base64 of any of them; UTF-16. Anything unreadable is described in words.
 */
export function readBlocks(bytes: Buffer, layers = MAX_LAYERS): Block[] {
  const fromDer = toBlock(bytes);
  if (fromDer) return [fromDer];
  // JSON and environment files write line breaks as \\n
  const text = decodeText(bytes).replace(/(?:\\r)?\\n/g, '\n');
  const blocks = [...text.matchAll(PEM)].flatMap(([whole, label = '', body = '']) =>
    readPem(whole, label, body, layers),
  );
  if (blocks.length > 0) return blocks;
  const base64 = text.replace(/^\s*(["'])(.*)\1\s*$/s, '$2').replace(/^data:[^,]{0,100},|\s/g, '');
  const isBase64 = base64.length > 0 && /^[\w+/-]+={0,2}$/.test(base64);
  if (isBase64 && layers > 0) {
    const inside = readBlocks(Buffer.from(base64, 'base64'), layers - 1);
    if (inside.some(isKnown)) return inside;
  }
  return [describeOther(bytes, text)];
}

const UNKNOWN = 'of an unknown kind';
const isKnown = ({ kind, words }: Block): boolean => kind !== 'empty' && !words.endsWith(UNKNOWN);
const isCryptographic = ({ kind }: Block): boolean => ['certificate', 'key', 'pfx', 'pkcs7'].includes(kind);

function readPem(whole: string, label: string, body: string, layers: number): Block[] {
  if (!whole.endsWith(`-----END ${label}-----`)) return [damaged(`a ${label} block that is cut off`)];
  const headers = /^\s*Proc-Type:.*?\n\s*\n/s.exec(body)?.[0] ?? '';
  const base64 = body
    .slice(headers.length)
    .replace(/^[\w-]+:.*$/gm, '')
    .replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return [damaged(`a damaged ${label} block`)];
  const der = Buffer.from(base64, 'base64');
  // its contents are encrypted
  if (headers !== '') return [{ kind: 'key', words: 'a private key', der, pem: toPem(label, der, headers.trim()) }];
  if (label.endsWith('PARAMETERS')) return [other(label)];
  const fromDer = toBlock(der);
  if (label.endsWith('PRIVATE KEY') && (fromDer ?? { kind: 'key' }).kind === 'key') {
    if (label.startsWith('OPENSSH')) return [other('a key of OpenSSH')];
    return [{ kind: 'key', words: 'a private key', der, pem: toPem(label, der) }];
  }
  if (fromDer) return [fromDer];
  if (label.endsWith('REQUEST')) return [other('a certificate request (CSR)')];
  if (!label.endsWith('CERTIFICATE')) return [other(`a block ${label}`)];
  // certutil's armor
  const inside = layers > 0 ? readBlocks(der, layers - 1) : [];
  return inside.some(isCryptographic) ? inside : [damaged(`a damaged ${label} block`)];
}

/** A block in DER or BER, by its structure; null if it is unknown. */
function toBlock(der: Buffer): Block | null {
  const [first, second] = elementsOf(der);
  if (!first || !second) return null;
  const { tag, content } = first;
  const as = (kind: Kind, words: string, label: string): Block => ({ kind, words, der, pem: toPem(label, der) });
  if (tag === 0x06) return as('pkcs7', 'PKCS#7 (.p7b)', 'PKCS7');
  if (tag === 0x02 && content.toString('hex') === '03') return as('pfx', 'a PFX (PKCS#12)', 'PKCS12');
  if (tag === 0x02 && second.tag === 0x30) return as('key', 'a private key', 'PRIVATE KEY');
  if (tag === 0x02 && second.tag === 0x02) return as('key', 'a private key', 'RSA PRIVATE KEY');
  if (tag === 0x02 && second.tag === 0x04) return as('key', 'a private key', 'EC PRIVATE KEY');
  if (tag === 0x30 && second.tag === 0x04) return as('key', 'a private key', 'ENCRYPTED PRIVATE KEY');
  if (tag === 0x30 && second.tag === 0x03) return as('other', 'a public key', 'PUBLIC KEY');
  if (tag !== 0x30 || second.tag !== 0x30) return null;
  try {
    const certificate = new X509Certificate(der);
    return { kind: 'certificate', words: 'a certificate', der: certificate.raw, pem: certificate.toString() };
  } catch {
    return null;
  }
}

/** None for anything but a SEQUENCE. */
function elementsOf(bytes: Buffer): Asn1[] {
  try {
    const node = parseAsn1(bytes);
    return isSequence(node) ? childrenOf(node) : [];
  } catch {
    return [];
  }
}

const toPem = (label: string, der: Buffer, headers = ''): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...(headers ? [headers, ''] : []), ...lines, `-----END ${label}-----\n`].join(
    '\n',
  );
};

const other = (words: string): Block => ({ kind: 'other', words, der: Buffer.alloc(0), pem: '' });
const damaged = (words: string): Block => ({ ...other(words), kind: 'damaged' });

const TEXTS: readonly (readonly [start: RegExp, words: string])[] = [
  [/^\s*<(!doctype|html|head|body)/i, 'an HTML page'],
  [/^\s*[{[]/, 'JSON'],
  [/^\s*([A-Z]:)?[\\/][^\0\n]*\.\w{1,5}\s*$/i, 'the path of a file'],
  [/^[\da-f\s:]+$/i, 'hexadecimal digits'],
];

function describeOther(bytes: Buffer, text: string): Block {
  if (text.trim() === '') return { ...other('empty'), kind: 'empty' };
  const start = bytes.toString('hex', 0, 4);
  if (start === 'feedfeed') return other('a Java keystore (JKS)');
  if (start === '504b0304') return other('a ZIP archive');
  if (bytes[0] === 0x30 && bytes.length > 1 && /[^\t\n\r -~]/.test(text.slice(0, 100))) {
    return damaged('a binary file that is damaged or cut off');
  }
  const words = TEXTS.find(([pattern]) => pattern.test(text))?.[1];
  return other(words ?? `${/[\0\ufffd]/.test(text) ? 'a binary file' : 'text'} ${UNKNOWN}`);
}
