import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';
import { createCertificate, type Validity } from '../../src/sandbox/identity/certificate.js';
import { temporaryDirectory } from './closing.js';
import { takeKeyPair } from './stock.js';

export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  readonly pem: string;
  /** The CA certificate as a new PEM file. */
  readonly file: string;
  /** A server that uses the self-signed CA certificate itself. */
  readonly self: ServerIdentity;
  server(names: readonly string[], validity?: Validity): ServerIdentity;
  client(name: string, validity?: Validity): ServerIdentity;
}

/** A CA with this name. The certificates that it issues share one key pair. */
export function createAuthority(name: string): Authority {
  const [caKey, leafKey] = [takeKeyPair(), takeKeyPair()];
  const root = createCertificate(name, caKey, { use: 'root' });
  const issuer = { certificate: root, key: caKey };
  const toIdentity = (certificate: forge.pki.Certificate) => ({
    key: leafKey.pem,
    cert: forge.pki.certificateToPem(certificate),
  });
  return {
    pem: forge.pki.certificateToPem(root),
    get file() {
      const file = join(temporaryDirectory(), 'ca.pem');
      writeFileSync(file, forge.pki.certificateToPem(root));
      return file;
    },
    self: { key: caKey.pem, cert: forge.pki.certificateToPem(root) },
    server: (names, validity) =>
      toIdentity(createCertificate('a server', leafKey, { use: 'server', issuer, names }, validity)),
    client: (common, validity) => toIdentity(createCertificate(common, leafKey, { use: 'client', issuer }, validity)),
  };
}

/** A validity that ended yesterday. */
export function expired(): Validity {
  const day = 86_400_000;
  return { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) };
}
