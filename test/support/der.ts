import { createHmac, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import { type Asn1, childrenOf, parseAsn1 } from '../../src/files/asn1.js';

/** One DER element. */
export function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const size = value.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);
export const octets = (content: Buffer): Buffer => der(0x04, content);
export function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return der(0x02, bytes.readUInt8(0) < 0x80 ? bytes : Buffer.concat([Buffer.alloc(1), bytes]));
}
export const oid = (dotted: string): Buffer => der(0x06, Buffer.from(forge.asn1.oidToDer(dotted).getBytes(), 'latin1'));
const data = (content: Buffer): Buffer => sequence(oid('1.2.840.113549.1.7.1'), der(0xa0, octets(content)));

/** A bag in a SafeContents. */
export const bag = (id: string, value: Buffer): Buffer =>
  sequence(oid(`1.2.840.113549.1.12.10.1.${id}`), der(0xa0, value));
export const certificateBag = (certificate: Buffer): Buffer =>
  bag('3', sequence(oid('1.2.840.113549.1.9.22.1'), der(0xa0, octets(certificate))));

/** A PFX of one unencrypted SafeContents with a PBMAC1 MAC (RFC 9579), HMAC and PBKDF2 with SHA-256. */
export function pbmac1Pfx(bags: Buffer[], passcode: string, { rounds = 2048, keyLength = 32 } = {}): Buffer {
  const salt = Buffer.alloc(8, 7);
  const contents = sequence(data(sequence(...bags)));
  const prf = sequence(oid('1.2.840.113549.2.9'), der(0x05));
  const kdf = sequence(oid('1.2.840.113549.1.5.12'), sequence(octets(salt), integer(rounds), integer(keyLength), prf));
  const algorithm = sequence(oid('1.2.840.113549.1.5.14'), sequence(kdf, prf));
  const macKey = pbkdf2Sync(passcode, salt, Math.min(rounds, 2048), keyLength, 'sha256');
  const mac = createHmac('sha256', macKey).update(contents).digest();
  const macData = sequence(sequence(algorithm, octets(mac)), octets(salt), integer(1));
  return sequence(der(0x02, Buffer.from([3])), data(contents), macData);
}

/** The same structure in BER, as Windows and NSS write it: indefinite lengths, long octet strings in pieces. */
export function toBer(bytes: Buffer): Buffer {
  return berOf(parseAsn1(bytes));
}

function berOf(node: Asn1): Buffer {
  const { tag, content } = node;
  if ((tag & 0x20) !== 0) return open(tag, childrenOf(node).map(berOf));
  const isOctets = tag === 0x04 || tag === 0x80;
  if (!isOctets || content.length < 40) return der(tag, content);
  const middle = content.length >> 1;
  return open(tag, [octets(content.subarray(0, middle)), octets(content.subarray(middle))]);
}

function open(tag: number, content: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([tag | 0x20, 0x80]), ...content, Buffer.from([0, 0])]);
}
