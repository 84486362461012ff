import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { CertificateUnreadable, describeSlip } from './certificate-unreadable.js';
import type { KeysAndCertificates } from './client-certificate.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the certificate chain and the private key of BANK_CERT_FILE and BANK_KEY_FILE, none of them checked yet.
 * @throws CertificateUnreadable
 */
export function readPem(chain: Buffer, key: Buffer, passphrase: string): KeysAndCertificates {
  return { keys: [readKey(key.toString('latin1'), passphrase)], certificates: readChain(chain.toString('latin1')) };
}

function readChain(chain: string): X509Certificate[] {
  try {
    return (chain.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new CertificateUnreadable('damaged', 'A certificate is damaged.', 'Copy the file again.', { cause });
  }
}

function readKey(pem: string, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch (cause) {
    throw /ENCRYPTED/.test(pem)
      ? new CertificateUnreadable(
          'passcode',
          `The passphrase of the private key is missing or wrong, or its file is damaged.${describeSlip(passphrase)}`,
          'Check BANK_KEY_PASSPHRASE or BANK_KEY_PASSPHRASE_FILE; to try one: openssl pkey -in key.pem -noout.',
          { cause },
        )
      : new CertificateUnreadable(
          'no-key',
          'The file contains no PEM private key, or a damaged one.',
          'Use the PEM file with the private key of the certificate.',
          { cause },
        );
  }
}
