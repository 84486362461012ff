import type forge from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';
import util from 'node-forge/lib/util.js';

export type Asn1 = forge.asn1.Asn1;

/** The structure is not what its standard says. Stays inside this folder: readPfx makes a PfxUnreadable of it. */
export class Malformed extends Error {
  constructor(
    what: string,
    /** An element announces more bytes than are there. */
    readonly tooShort = false,
  ) {
    super(what);
  }
}

// The published types know the older signature only.
const fromDer = asn1.fromDer as (bytes: forge.util.ByteBuffer, options: unknown) => Asn1;

/** Reads one element, DER or BER (indefinite lengths too); bytes after it are left alone. Throws Malformed. */
export function parseAsn1(bytes: Buffer): Asn1 {
  try {
    const input = util.createBuffer(bytes.toString('latin1'));
    return fromDer(input, { strict: true, parseAllBytes: false, decodeBitStrings: false, maxDepth: 64 });
  } catch (error) {
    throw new Malformed('not ASN.1', error instanceof Error && error.message.startsWith('Too few bytes'));
  }
}

/** The element as DER. */
export function toDer(node: Asn1): Buffer {
  return Buffer.from(asn1.toDer(node).getBytes(), 'latin1');
}

/** The elements inside a SEQUENCE, SET or explicit tag. Throws Malformed if it has none. */
export function childrenOf(node: Asn1 | undefined): Asn1[] {
  if (node === undefined || !Array.isArray(node.value)) throw new Malformed('a structure is missing');
  return node.value;
}

export function isContextTag(node: Asn1 | undefined, tag: number): node is Asn1 {
  return node !== undefined && node.tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(node.type) === tag;
}

function isUniversal(node: Asn1 | undefined, type: forge.asn1.Type): node is Asn1 {
  return node !== undefined && node.tagClass === asn1.Class.UNIVERSAL && node.type === type;
}

export const isSequence = (node: Asn1 | undefined): node is Asn1 => isUniversal(node, asn1.Type.SEQUENCE);
export const isOctets = (node: Asn1 | undefined): node is Asn1 => isUniversal(node, asn1.Type.OCTETSTRING);
export const isInteger = (node: Asn1 | undefined): node is Asn1 => isUniversal(node, asn1.Type.INTEGER);

/** The bytes of an OCTET STRING; BER may hold them in pieces. Throws Malformed. */
export function octetsOf(node: Asn1 | undefined): Buffer {
  if (!isOctets(node)) throw new Malformed('an octet string is missing');
  return contentOf(node);
}

/** The same where a context tag stands for OCTET STRING (IMPLICIT). Throws Malformed. */
export function implicitOctetsOf(node: Asn1 | undefined, tag: number): Buffer {
  if (!isContextTag(node, tag)) throw new Malformed('an octet string is missing');
  return contentOf(node);
}

function contentOf({ value }: Asn1): Buffer {
  return Array.isArray(value) ? Buffer.concat(value.map(octetsOf)) : Buffer.from(value, 'latin1');
}

/** An object identifier in dotted form. Throws Malformed. */
export function oidOf(node: Asn1 | undefined): string {
  if (!isUniversal(node, asn1.Type.OID) || typeof node.value !== 'string' || node.value === '') {
    throw new Malformed('an object identifier is missing');
  }
  return asn1.derToOid(node.value);
}

/** A count: an INTEGER from 0 to 2^48. Throws Malformed. */
export function countOf(node: Asn1 | undefined): number {
  if (!isInteger(node) || typeof node.value !== 'string') throw new Malformed('a number is missing');
  const bytes = Buffer.from(node.value, 'latin1');
  if (bytes.length === 0 || bytes.length > 6 || bytes.readInt8(0) < 0) throw new Malformed('a number is out of range');
  return bytes.readUIntBE(0, bytes.length);
}
