import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { KeysAndCertificates } from './client-certificate.js';

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * Reads the certificate chain and the private key of BANK_CERT_FILE and BANK_KEY_FILE, none of them checked yet.
 * @throws CertificateUnreadable
 */
export function readPem(chain: Buffer, key: Buffer, passphrase: string): KeysAndCertificates {
  return { keys: [readKey(key.toString('latin1'), passphrase)], certificates: readChain(chain), warnings: [] };
}

function readChain(chain: Buffer): X509Certificate[] {
  const blocks = chain.toString('latin1').match(CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    throw new CertificateUnreadable(
      'no-certificate',
      'BANK_CERT_FILE has no "-----BEGIN CERTIFICATE-----".',
      'Use a PEM file with the certificate and its intermediates; for a .cer file: openssl x509 -inform der -in client.cer -out certificate.pem.',
    );
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new CertificateUnreadable(
        'damaged',
        `Certificate ${index + 1} in BANK_CERT_FILE is damaged.`,
        'Copy the file again.',
        { cause },
      );
    }
  });
}

function readKey(pem: string, passphrase: string): KeyObject {
  const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(pem);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new CertificateUnreadable(
      'no-key',
      'BANK_KEY_FILE has no "-----BEGIN PRIVATE KEY-----".',
      'Use the PEM file with the private key of the certificate.',
    );
  }
  if (encrypted && passphrase === '') {
    throw new CertificateUnreadable(
      'passcode',
      'The private key in BANK_KEY_FILE is encrypted, but no passphrase was given.',
      'Set BANK_KEY_PASSPHRASE.',
    );
  }
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch (cause) {
    throw encrypted
      ? new CertificateUnreadable(
          'passcode',
          'The passphrase of the private key in BANK_KEY_FILE is wrong, or the file is damaged.',
          'Check BANK_KEY_PASSPHRASE; to try one: openssl pkey -in key.pem -noout.',
          { cause },
        )
      : new CertificateUnreadable(
          'damaged',
          'The private key in BANK_KEY_FILE is damaged or of an unsupported kind.',
          'Copy the file again; the gateway supports RSA and EC keys.',
          { cause },
        );
  }
}
