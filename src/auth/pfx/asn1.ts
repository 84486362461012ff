import forge from 'node-forge';

export type Asn1 = forge.asn1.Asn1;

const { Class, Type } = forge.asn1;

// the published types only know an older signature
const fromDer = forge.asn1.fromDer as (bytes: forge.util.ByteBuffer, options: unknown) => Asn1;

/** Reads one element, DER or BER (indefinite lengths too), and ignores bytes after it. @throws Error */
export function parseAsn1(bytes: Buffer): Asn1 {
  const input = forge.util.createBuffer(bytes.toString('latin1'));
  return fromDer(input, { strict: true, parseAllBytes: false, decodeBitStrings: false, maxDepth: 64 });
}

/** Encodes the element as DER. */
export function toDer(node: Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** The elements inside a SEQUENCE, SET or explicit tag. @throws Error if it has none */
export function childrenOf(node: Asn1 | undefined): Asn1[] {
  if (!Array.isArray(node?.value)) throw new Error('a structure is missing');
  return node.value;
}

const isUniversal = (node: Asn1 | undefined, type: forge.asn1.Type): boolean =>
  node?.tagClass === Class.UNIVERSAL && node.type === type;

export const isSequence = (node: Asn1 | undefined): boolean => isUniversal(node, Type.SEQUENCE);
export const isInteger = (node: Asn1 | undefined): boolean => isUniversal(node, Type.INTEGER);

/** The bytes of an OCTET STRING, an IMPLICIT one too; BER may split them into several. @throws Error */
export function octetsOf(node: Asn1 | undefined): Buffer {
  const isImplicit = node?.tagClass === Class.CONTEXT_SPECIFIC;
  if (!node || !(isImplicit || isUniversal(node, Type.OCTETSTRING))) throw new Error('an octet string is missing');
  return Array.isArray(node.value) ? Buffer.concat(node.value.map(octetsOf)) : Buffer.from(node.value, 'latin1');
}

/** An object identifier in dotted form. @throws Error */
export function oidOf(node: Asn1 | undefined): string {
  if (!isUniversal(node, Type.OID) || !node?.value) throw new Error('an object identifier is missing');
  return forge.asn1.derToOid(node.value as string);
}

/** An INTEGER from 0 to 2^47. @throws Error */
export function countOf(node: Asn1 | undefined): number {
  const bytes = Buffer.from(isInteger(node) ? (node?.value as string) : '', 'latin1');
  if (bytes.length === 0 || bytes.length > 6 || bytes.readInt8(0) < 0) throw new Error('a number is out of range');
  return bytes.readUIntBE(0, bytes.length);
}
