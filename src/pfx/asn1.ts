import forge from 'node-forge';

export type Asn1 = forge.asn1.Asn1;

/** The structure violates its standard. Never leaves this folder: `readPfx` converts it to CertificateUnreadable. */
export class Malformed extends Error {}

// the published types only know an older signature
const fromDer = forge.asn1.fromDer as (bytes: forge.util.ByteBuffer, options: unknown) => Asn1;

/** Reads one element, DER or BER (indefinite lengths too), and ignores bytes after it. @throws Malformed */
export function parseAsn1(bytes: Buffer): Asn1 {
  try {
    const input = forge.util.createBuffer(bytes.toString('latin1'));
    return fromDer(input, { strict: true, parseAllBytes: false, decodeBitStrings: false, maxDepth: 64 });
  } catch (cause) {
    throw new Malformed('not ASN.1', { cause });
  }
}

/** Encodes the element as DER. */
export function toDer(node: Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** The elements inside a SEQUENCE, SET or explicit tag. @throws Malformed if it has none */
export function childrenOf(node: Asn1 | undefined): Asn1[] {
  if (node === undefined || !Array.isArray(node.value)) throw new Malformed('a structure is missing');
  return node.value;
}

export function isContextTag(node: Asn1 | undefined, tag: number): node is Asn1 {
  return node !== undefined && node.tagClass === forge.asn1.Class.CONTEXT_SPECIFIC && Number(node.type) === tag;
}

function isUniversal(node: Asn1 | undefined, type: forge.asn1.Type): node is Asn1 {
  return node !== undefined && node.tagClass === forge.asn1.Class.UNIVERSAL && node.type === type;
}

export const isSequence = (node: Asn1 | undefined): node is Asn1 => isUniversal(node, forge.asn1.Type.SEQUENCE);
export const isInteger = (node: Asn1 | undefined): node is Asn1 => isUniversal(node, forge.asn1.Type.INTEGER);

/** The bytes of an OCTET STRING; BER may split them into several. @throws Malformed */
export function octetsOf(node: Asn1 | undefined): Buffer {
  if (!isUniversal(node, forge.asn1.Type.OCTETSTRING)) throw new Malformed('an octet string is missing');
  return contentOf(node);
}

/** The same for an IMPLICIT octet string behind a context tag. @throws Malformed */
export function implicitOctetsOf(node: Asn1 | undefined, tag: number): Buffer {
  if (!isContextTag(node, tag)) throw new Malformed('an octet string is missing');
  return contentOf(node);
}

function contentOf({ value }: Asn1): Buffer {
  return Array.isArray(value) ? Buffer.concat(value.map(octetsOf)) : Buffer.from(value, 'latin1');
}

/** An object identifier in dotted form. @throws Malformed */
export function oidOf(node: Asn1 | undefined): string {
  if (!isUniversal(node, forge.asn1.Type.OID) || typeof node.value !== 'string' || node.value === '') {
    throw new Malformed('an object identifier is missing');
  }
  return forge.asn1.derToOid(node.value);
}

/** An INTEGER from 0 to 2^47. @throws Malformed */
export function countOf(node: Asn1 | undefined): number {
  if (!isInteger(node) || typeof node.value !== 'string') throw new Malformed('a number is missing');
  const bytes = Buffer.from(node.value, 'latin1');
  if (bytes.length === 0 || bytes.length > 6 || bytes.readInt8(0) < 0) throw new Malformed('a number is out of range');
  return bytes.readUIntBE(0, bytes.length);
}
