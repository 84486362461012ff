import forge from 'node-forge';
import type { KeyPair } from './key-pair.js';

// few iterations, for speed: nobody can guess the passcode, and it is next to the file
const KDF_ROUNDS = 100;

/**
 * A PKCS#12 file with key, leaf and intermediate, as the bank supplies it: AES-256 under PBES2, so that OpenSSL 3 opens
 * it.
 */
export function createPfx(key: KeyPair, chain: forge.pki.Certificate[], passcode: string): Buffer {
  const asn1 = forge.pkcs12.toPkcs12Asn1(key.privateKey, chain, passcode, {
    algorithm: 'aes256',
    count: KDF_ROUNDS,
    friendlyName: 'sandbox-m2m',
  });
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
}

interface PfxContent {
  readonly keyPem: string;
  readonly certificatePems: string[];
}

/** @throws Error if the passcode is wrong, the file is damaged or it has no key */
export function openPfx(file: Buffer, passcode: string): PfxContent {
  const pfx = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(file.toString('binary')), passcode);
  const bags = pfx.safeContents.flatMap((content) => content.safeBags);
  const key = bags.find((bag) => bag.key)?.key;
  if (!key) throw new Error('no private key in the PFX');
  const certificatePems = bags.flatMap((bag) => (bag.cert ? [forge.pki.certificateToPem(bag.cert)] : []));
  return { keyPem: forge.pki.privateKeyToPem(key), certificatePems };
}
