import { createPrivateKey, type KeyObject } from 'node:crypto';
import { nameAlgorithm, refuseAlgorithm, toAlgorithm } from './algorithms.js';
import { type Asn1, childrenOf, isContextTag, Malformed, octetsOf, oidOf, parseAsn1 } from './asn1.js';
import { Effort } from './effort.js';
import { Lock } from './lock.js';
import { toOtherFile } from './other-file.js';
import { explainPasscode } from './explain-passcode.js';
import { toPasscodeForms } from './passcode-forms.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { type BagLabels, type Bags, type PfxCertificate, readBags } from './read-bags.js';
import { toSeal, type Seal } from './seal.js';

const DATA = '1.2.840.113549.1.7.1';
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';

export interface PfxKey extends BagLabels {
  key: KeyObject;
}

export interface PfxContents {
  keys: PfxKey[];
  certificates: PfxCertificate[];
  /** Broken or outdated ways in which the file is encrypted, such as PBE-SHA1-RC2-40. */
  legacyAlgorithms: string[];
  /** What the operator should know of the file beyond that, a sentence each. */
  remarks: string[];
}

/**
 * Opens a PKCS#12 file (RFC 7292), DER or BER, and gives all keys and certificates in it, none of them judged yet.
 * Everything it throws is a PfxUnreadable, whatever the bytes are.
 */
export function readPfx(bytes: Buffer, passcode: string): PfxContents {
  try {
    const other = toOtherFile(bytes);
    if (other !== undefined) throw other;
    return openPfx(bytes, passcode);
  } catch (error) {
    if (error instanceof PfxUnreadable) throw error;
    throw toDamage(error);
  }
}

function openPfx(bytes: Buffer, passcode: string): PfxContents {
  const pfx = parsePfx(bytes);
  const effort = new Effort();
  try {
    return unlock(pfx, passcode, effort);
  } catch (error) {
    if (!(error instanceof PfxUnreadable) || error.reason !== 'passcode') throw error;
    const opensWith = (another: string): boolean => {
      try {
        unlock(pfx, another, effort);
        return true;
      } catch {
        return false;
      }
    };
    throw explainPasscode(error, bytes, passcode, opensWith);
  }
}

interface Pfx {
  contents: Buffer;
  seal: Seal | undefined;
}

function parsePfx(bytes: Buffer): Pfx {
  const [, authSafe, macData] = childrenOf(parseAsn1(bytes));
  const [type, wrapped] = childrenOf(authSafe);
  if (oidOf(type) === SIGNED_DATA) refuseAlgorithm('a public key', 'sealed');
  return { contents: octetsOf(childrenOf(wrapped)[0]), seal: macData && toSeal(macData) };
}

function unlock({ contents, seal }: Pfx, passcode: string, effort: Effort): PfxContents {
  const lock = new Lock(toPasscodeForms(passcode), effort);
  if (seal !== undefined) lock.checkSeal(seal, contents);
  const bags: Bags = { pkcs8: [], certificates: [], unreadableCertificates: 0 };
  for (const contentInfo of childrenOf(parseAsn1(contents))) readBags(toSafeContents(contentInfo, lock), lock, bags);

  const remarks: string[] = [];
  if (seal === undefined)
    remarks.push('The PFX has no MAC, so nothing tells whether it was changed; export it again with one.');
  if (bags.unreadableCertificates > 0)
    remarks.push(`${bags.unreadableCertificates} of the certificates in the PFX can't be read and are left out.`);
  return {
    keys: toKeys(bags, remarks),
    certificates: bags.certificates,
    legacyAlgorithms: [...lock.legacyNames],
    remarks,
  };
}

function toSafeContents(contentInfo: Asn1, lock: Lock): Asn1 {
  const [typeNode, wrapped] = childrenOf(contentInfo);
  const type = oidOf(typeNode);
  const value = childrenOf(wrapped)[0];
  if (type === DATA) return parseAsn1(octetsOf(value));
  if (type !== ENCRYPTED_DATA) refuseAlgorithm('a public key instead of a passcode', 'encrypted');
  const [, algorithm, ciphertext] = childrenOf(childrenOf(value)[1]);
  if (!isContextTag(ciphertext, 0)) throw new Malformed('nothing is encrypted');
  return lock.open(algorithm, octetsOf(ciphertext));
}

/** Keys of a kind that we can't use are left out with a remark, if there are others. */
function toKeys({ pkcs8 }: Bags, remarks: string[]): PfxKey[] {
  const keys: PfxKey[] = [];
  const kinds = new Set<string>();
  for (const { der, ...labels } of pkcs8) {
    try {
      keys.push({ key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }), ...labels });
    } catch {
      kinds.add(nameAlgorithm(toAlgorithm(childrenOf(parseAsn1(der))[1]).oid));
    }
  }
  if (kinds.size === 0) return keys;
  const left = `a private key of a kind or form that can't be used (${[...kinds].join(', ')})`;
  if (keys.length === 0) {
    throw new PfxUnreadable(
      'unknown-algorithm',
      `The PFX holds ${left}; ask the bank for a certificate with an RSA or EC key.`,
    );
  }
  remarks.push(`The PFX also holds ${left}, which is left out.`);
  return keys;
}

function toDamage(error: unknown): PfxUnreadable {
  return new PfxUnreadable(
    'damaged',
    'The PFX is damaged: its structure is broken. Copy it again, in binary mode, or export it again.',
    { cause: error },
  );
}
