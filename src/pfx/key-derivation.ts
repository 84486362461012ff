import { pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import { refuseAlgorithm, toAlgorithm, toHmacHash, type Algorithm, type DigestName } from './algorithms.js';
import { childrenOf, countOf, isInteger, isSequence, Malformed, octetsOf } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { Passcode } from './passcode.js';

const PBKDF2 = '1.2.840.113549.1.5.12';

/** A file names its own number of rounds, and a native derivation cannot be interrupted. GnuTLS writes 600 000. */
const MAX_ROUNDS = 10_000_000;
/** Longer than any cipher's key. */
const MAX_KEY_BYTES = 64;

/** Purposes of a derived key (RFC 7292, B.3). */
const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

export interface Pkcs12Derivation {
  readonly digest: DigestName;
  readonly salt: Buffer;
  readonly rounds: number;
}

// the published types leave it out
const { generatePkcs12Key } = (
  forge.pki as unknown as {
    pbe: {
      generatePkcs12Key(
        passcode: string | null,
        salt: forge.util.ByteStringBuffer,
        purpose: number,
        rounds: number,
        length: number,
        digest: forge.md.MessageDigest,
      ): forge.util.ByteStringBuffer;
    };
  }
).pbe;

/** The key derivation of RFC 7292, appendix B.2. @throws CertificateUnreadable for an unreasonable number of rounds */
export function derivePkcs12Key(
  { digest, salt, rounds }: Pkcs12Derivation,
  purpose: keyof typeof PURPOSE,
  { text }: Passcode,
  length: number,
): Buffer {
  assertRounds(rounds);
  const input = forge.util.createBuffer(salt.toString('latin1'));
  const key = generatePkcs12Key(text, input, PURPOSE[purpose], rounds, length, forge.md[digest].create());
  return Buffer.from(key.getBytes(), 'latin1');
}

/** PBKDF2 as a file describes it; `keyLength` is the length that the file itself names. */
export interface Pbkdf2 {
  readonly keyLength: number | undefined;
  derive(passcode: Passcode, length: number): Buffer;
}

/** Reads the parameters of PBKDF2 (RFC 8018, A.2). @throws CertificateUnreadable, Malformed */
export function toPbkdf2({ oid, parameters }: Algorithm): Pbkdf2 {
  if (oid !== PBKDF2) refuseAlgorithm(`the key derivation ${oid}`, 'encrypted');
  const [saltNode, roundsNode, ...rest] = childrenOf(parameters);
  const salt = octetsOf(saltNode);
  const rounds = countOf(roundsNode);
  const lengthNode = rest.find(isInteger);
  const prf = rest.find(isSequence);
  const hash = prf === undefined ? 'sha1' : toHmacHash(toAlgorithm(prf));
  assertRounds(rounds);
  return {
    keyLength: lengthNode && countOf(lengthNode),
    derive({ bytes }, length) {
      if (length > MAX_KEY_BYTES) throw new Malformed('a key is too long');
      return pbkdf2Sync(bytes, salt, rounds, length, hash);
    },
  };
}

function assertRounds(rounds: number): void {
  if (rounds < 1) throw new Malformed('no rounds of key derivation');
  if (rounds <= MAX_ROUNDS) return;
  throw new CertificateUnreadable(
    'damaged',
    `The PFX asks for ${rounds} rounds of key derivation; the gateway accepts at most ${MAX_ROUNDS}. ` +
      'Export it again with -iter 100000, or check where it comes from: it may be damaged.',
  );
}
