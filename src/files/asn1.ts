/** One element, DER or BER. */
export interface Asn1 {
  /** The first byte: class, form, number. */
  readonly tag: number;
  /** The whole element. */
  readonly bytes: Buffer;
  readonly content: Buffer;
}

const SEQUENCE = 0x30;
const MAX_DEPTH = 32;
const MAX_CHILDREN = 10_000;
const isConstructed = (tag: number): boolean => (tag & 0x20) !== 0;

/** Reads one element, DER or BER (indefinite lengths too), and ignores bytes after it. @throws Error */
export const parseAsn1 = (bytes: Buffer, depth = 0): Asn1 => {
  const [tag = 0, first = 0] = bytes;
  if (bytes.length < 2 || (tag & 0x1f) === 0x1f) throw new Error('an element is cut off, or has a long tag');
  if (first === 0x80) return parseIndefinite(bytes, tag, depth);
  const digits = first < 0x80 ? 0 : first & 0x7f;
  if (digits > 4 || bytes.length < 2 + digits) throw new Error('a length is wrong');
  const start = 2 + digits;
  const end = start + (digits === 0 ? first : bytes.readUIntBE(2, digits));
  if (end > bytes.length) throw new Error('an element is cut off');
  return { tag, bytes: bytes.subarray(0, end), content: bytes.subarray(start, end) };
};

/** An element that ends with two zero bytes. */
function parseIndefinite(bytes: Buffer, tag: number, depth: number): Asn1 {
  if (!isConstructed(tag) || depth >= MAX_DEPTH) throw new Error('a structure is too deep, or its length is wrong');
  let at = 2;
  while (bytes[at] !== 0 || bytes[at + 1] !== 0) at += parseAsn1(bytes.subarray(at), depth + 1).bytes.length;
  return { tag, bytes: bytes.subarray(0, at + 2), content: bytes.subarray(2, at) };
}

/** The elements inside a SEQUENCE, SET or explicit tag. @throws Error if it is none of them, or damaged */
export function childrenOf(node: Asn1 | undefined): Asn1[] {
  if (!node || !isConstructed(node.tag)) throw new Error('a structure is missing');
  const children: Asn1[] = [];
  for (let at = 0; at < node.content.length;) {
    const child = parseAsn1(node.content.subarray(at));
    if (children.push(child) > MAX_CHILDREN) throw new Error('a structure is too wide');
    at += child.bytes.length;
  }
  return children;
}

export const isSequence = (node: Asn1 | undefined): boolean => node?.tag === SEQUENCE;
export const isInteger = (node: Asn1 | undefined): boolean => node?.tag === 0x02;

/** The bytes of an OCTET STRING, an IMPLICIT one too; BER may split them into several. @throws Error */
export function octetsOf(node: Asn1 | undefined, depth = 0): Buffer {
  const isOctets = node && ((node.tag & 0xdf) === 0x04 || (node.tag & 0xc0) === 0x80);
  if (!isOctets || depth > MAX_DEPTH) throw new Error('an octet string is missing');
  if (!isConstructed(node.tag)) return node.content;
  return Buffer.concat(childrenOf(node).map((part) => octetsOf(part, depth + 1)));
}

/** An object identifier in dotted form. @throws Error */
export function oidOf(node: Asn1 | undefined): string {
  if (node?.tag !== 0x06 || node.content.length === 0 || node.content.length > 40) {
    throw new Error('an object identifier is missing');
  }
  const parts: number[] = [];
  let value = 0;
  for (const byte of node.content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    parts.push(value);
    value = 0;
  }
  const [first = 0, ...others] = parts;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - 40 * top, ...others].join('.');
}

/** An INTEGER from 0, below 2^47. @throws Error */
export function countOf(node: Asn1 | undefined): number {
  const bytes = isInteger(node) ? node?.content : undefined;
  if (!bytes || bytes.length === 0 || bytes.length > 6 || bytes.readInt8(0) < 0)
    throw new Error('a number is out of range');
  return bytes.readUIntBE(0, bytes.length);
}
