import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { FileUnusable, readSmallFile } from './small-file.js';

/**
 * The bytes of a PEM file, and each certificate in it. A truncated or damaged certificate makes the file unusable; OpenSSL
 * would skip it silently. @throws FileUnusable
 */
export function readCertificates(path: string) {
  const pem = readSmallFile(path);
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g);
  if (!blocks) throw new FileUnusable(path, 'contains no PEM certificate');
  try {
    return { pem, certificates: blocks.map((block) => new X509Certificate(block)) };
  } catch (error) {
    throw new FileUnusable(path, 'contains a PEM certificate that cannot be parsed', { cause: error });
  }
}

/** TLS_CERT_FILE with its key. `certificate` is the server's own, the first in the file. @throws FileUnusable */
export function readListenerPair(certFile: string, keyFile: string) {
  const { pem: cert, certificates } = readCertificates(certFile);
  const key = readSmallFile(keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = `does not match TLS_CERT_FILE ${certFile}, is not a PEM key, or is encrypted`;
    throw new FileUnusable(keyFile, reason, { cause: error });
  }
  return { cert, key, certificate: certificates[0] as X509Certificate };
}
