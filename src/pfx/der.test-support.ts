import { createHmac, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import { type Asn1, parseAsn1 } from './asn1.js';
import { KdfBudget } from './kdf-budget.js';
import { derivePkcs12Key } from './pkcs12-kdf.js';

/** One element in DER. */
export function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const size = value.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

export const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);
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

/** A PFX of one unencrypted SafeContents. */
export const plainPfx = (bags: Buffer[], ...macData: Buffer[]): Buffer =>
  sequence(der(0x02, Buffer.from([3])), data(sequence(data(sequence(...bags)))), ...macData);

interface Pbmac1Options {
  readonly rounds?: number;
  readonly keyLength?: number;
  /** The salt as it stands in the file. */
  readonly saltNode?: Buffer;
  /** HMAC and PRF, by node's name of the hash and by identifier. */
  readonly hash?: readonly [name: string, hmacOid: string];
}

/** The same under a MAC by RFC 9579, HMAC and PBKDF2 with the same hash. */
export function pbmac1Pfx(
  bags: Buffer[],
  passcode: string,
  { rounds = 2048, keyLength = 32, saltNode, hash = ['sha256', '1.2.840.113549.2.9'] }: Pbmac1Options = {},
): Buffer {
  const salt = Buffer.alloc(8, 7);
  const prf = sequence(oid(hash[1]), der(0x05));
  const kdf = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(saltNode ?? octets(salt), integer(rounds), integer(keyLength), prf),
  );
  const algorithm = sequence(oid('1.2.840.113549.1.5.14'), sequence(kdf, prf));
  const macKey = pbkdf2Sync(passcode, salt, Math.min(rounds, 2048), keyLength, hash[0]);
  const mac = createHmac(hash[0], macKey)
    .update(sequence(data(sequence(...bags))))
    .digest();
  return plainPfx(bags, sequence(sequence(algorithm, octets(mac)), octets(salt), integer(1)));
}

/** The same under the MAC of RFC 7292 with a passcode of no bytes, not even the two zeros at its end. */
export function emptyPasscodePfx(bags: Buffer[], rounds = 2): Buffer {
  const salt = Buffer.alloc(8, 7);
  // a file of very many rounds is to be refused: its MAC does not matter
  const derivation = { hashName: 'sha1', salt, rounds: Math.min(rounds, 1000) };
  const macKey = derivePkcs12Key(derivation, 'mac', Buffer.alloc(0), 20, new KdfBudget());
  const mac = createHmac('sha1', macKey)
    .update(sequence(data(sequence(...bags))))
    .digest();
  const algorithm = sequence(oid('1.3.14.3.2.26'), der(0x05));
  return plainPfx(bags, sequence(sequence(algorithm, octets(mac)), octets(salt), integer(rounds)));
}

/** The same structure as BER: all lengths open, octet strings in pieces, as Windows and NSS write it. */
export function toBer(bytes: Buffer): Buffer {
  return berOf(parseAsn1(bytes));
}

function berOf({ tagClass, type, value }: Asn1): Buffer {
  const tag = Number(tagClass) | Number(type);
  if (Array.isArray(value)) return open(tag, value.map(berOf));
  const bytes = Buffer.from(value, 'latin1');
  const isOctets = tag === 0x04 || tag === 0x80;
  if (!isOctets || bytes.length < 40) return der(tag, bytes);
  const middle = bytes.length >> 1;
  return open(tag, [octets(bytes.subarray(0, middle)), octets(bytes.subarray(middle))]);
}

function open(tag: number, content: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([tag | 0x20, 0x80]), ...content, Buffer.from([0, 0])]);
}
