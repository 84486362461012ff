import { X509Certificate } from 'node:crypto';
import { FileUnusable } from './small-file.js';

/**
 * The certificates in the text of a PEM file. One that is cut off or damaged makes the file unusable; OpenSSL would skip it
 * silently. @throws FileUnusable
 */
export function parseCertificates(pem: string, path: string): readonly [X509Certificate, ...X509Certificate[]] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g) ?? [];
  try {
    const [first, ...others] = blocks.map((block) => new X509Certificate(block));
    if (first) return [first, ...others];
  } catch (error) {
    throw new FileUnusable(path, 'contains a PEM certificate that cannot be parsed', { cause: error });
  }
  throw new FileUnusable(path, 'contains no PEM certificate');
}
