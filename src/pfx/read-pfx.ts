import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { nameAlgorithm, refuseAlgorithm, toAlgorithm } from './algorithms.js';
import { type Asn1, childrenOf, implicitOctetsOf, octetsOf, oidOf, parseAsn1 } from './asn1.js';
import { Decryptor } from './decryptor.js';
import { explainPasscode } from './explain-passcode.js';
import { identifyFile } from './identify-file.js';
import { KdfBudget } from './kdf-budget.js';
import { toMac, type Mac } from './mac.js';
import { toPasscodeForms } from './passcode-forms.js';
import { PfxUnreadable, type SettingNames } from './pfx-unreadable.js';
import { readSafeContents, type SafeBags } from './safe-contents.js';

const DATA = '1.2.840.113549.1.7.1';
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';

/** All keys and certificates of a PFX, and what is to be said of it. */
export interface PfxContents {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly X509Certificate[];
  /** Broken or outdated ways in which the file is encrypted, such as PBE-SHA1-RC2-40. */
  readonly legacyAlgorithms: readonly string[];
  /** What the operator should know of the file beyond that, a sentence each. */
  readonly remarks: readonly string[];
}

/**
 * Opens a PKCS#12 file (RFC 7292), DER or BER, and gives all keys and certificates in it, none of them judged yet. Takes
 * up to the time of `budget`, without a pause: `openPfx` runs it in a worker thread. Everything it throws is a
 * PfxUnreadable, whatever the bytes are; `names` are what its messages call the settings.
 */
export function readPfx(
  bytes: Buffer,
  passcode: string,
  names: SettingNames,
  budget: KdfBudget = new KdfBudget(),
): PfxContents {
  try {
    const foreign = identifyFile(bytes, names);
    if (foreign !== undefined) throw foreign;
    return open(bytes, passcode, names, budget);
  } catch (error) {
    if (error instanceof PfxUnreadable) throw error;
    throw new PfxUnreadable(
      'damaged',
      'The PFX is damaged: its structure is broken. Copy it again, in binary mode, or export it again.',
      { cause: error },
    );
  }
}

function open(bytes: Buffer, passcode: string, names: SettingNames, budget: KdfBudget): PfxContents {
  const pfx = parsePfx(bytes);
  const openWith = (each: string) =>
    readAuthenticatedSafe(pfx, new Decryptor(toPasscodeForms(each), budget, names.passcode));
  try {
    return openWith(passcode);
  } catch (error) {
    if (!(error instanceof PfxUnreadable) || error.reason !== 'passcode') throw error;
    throw explainPasscode(error, bytes, passcode, names.passcode, (another) => {
      try {
        openWith(another);
        return true;
      } catch {
        return false;
      }
    });
  }
}

interface Pfx {
  /** The AuthenticatedSafe, which the MAC is over. */
  readonly contents: Buffer;
  readonly mac: Mac | undefined;
}

function parsePfx(bytes: Buffer): Pfx {
  const [, authSafe, macData] = childrenOf(parseAsn1(bytes));
  const [type, wrapped] = childrenOf(authSafe);
  if (oidOf(type) === SIGNED_DATA) refuseAlgorithm('a public key', 'protected');
  return { contents: octetsOf(childrenOf(wrapped)[0]), mac: macData && toMac(macData) };
}

function readAuthenticatedSafe({ contents, mac }: Pfx, decryptor: Decryptor): PfxContents {
  if (mac !== undefined) decryptor.verify(mac, contents);
  const bags: SafeBags = { keys: [], certificates: [], unreadableCertificates: 0 };
  for (const contentInfo of childrenOf(parseAsn1(contents))) {
    readSafeContents(toSafeContents(contentInfo, decryptor), decryptor, bags);
  }

  const remarks: string[] = [];
  if (mac === undefined)
    remarks.push('The PFX has no MAC, so nothing tells whether it was changed; export it again with one.');
  if (bags.unreadableCertificates > 0)
    remarks.push(`${bags.unreadableCertificates} of the certificates in the PFX cannot be read and are left out.`);
  return {
    keys: toKeys(bags.keys, remarks),
    certificates: bags.certificates,
    legacyAlgorithms: [...decryptor.legacyNames],
    remarks,
  };
}

function toSafeContents(contentInfo: Asn1, decryptor: Decryptor): Asn1 {
  const [typeNode, wrapped] = childrenOf(contentInfo);
  const type = oidOf(typeNode);
  const value = childrenOf(wrapped)[0];
  if (type === DATA) return parseAsn1(octetsOf(value));
  if (type !== ENCRYPTED_DATA) refuseAlgorithm('a public key instead of a passcode', 'encrypted');
  const [, algorithm, ciphertext] = childrenOf(childrenOf(value)[1]);
  return decryptor.decrypt(algorithm, implicitOctetsOf(ciphertext, 0));
}

/** Keys of a kind that cannot be used are left out with a remark, if there are others. */
function toKeys(pkcs8: readonly Buffer[], remarks: string[]): KeyObject[] {
  const keys: KeyObject[] = [];
  const kinds = new Set<string>();
  for (const der of pkcs8) {
    try {
      keys.push(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
    } catch {
      kinds.add(nameAlgorithm(toAlgorithm(childrenOf(parseAsn1(der))[1]).oid));
    }
  }
  if (kinds.size === 0) return keys;
  const left = `a private key of a kind or form that cannot be used (${[...kinds].join(', ')})`;
  if (keys.length === 0) {
    throw new PfxUnreadable(
      'unknown-algorithm',
      `The PFX holds ${left}; ask the bank for a certificate with an RSA or EC key.`,
    );
  }
  remarks.push(`The PFX also holds ${left}, which is left out.`);
  return keys;
}
