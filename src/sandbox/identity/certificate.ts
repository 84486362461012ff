import { randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import type { KeyPair } from './key-pair.js';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** The issuer of a certificate. */
export interface Issuer {
  readonly certificate: forge.pki.Certificate;
  readonly key: KeyPair;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

type Kind =
  | { readonly use: 'root' }
  | { readonly use: 'intermediate'; readonly issuer: Issuer }
  | { readonly use: 'server'; readonly issuer: Issuer; readonly names: readonly string[] }
  | { readonly use: 'client'; readonly issuer: Issuer };

/**
 * Creates a signed certificate with the extensions that RFC 5280 requires for its kind. By default, CA certificates are
 * valid for five years and others for one, from an hour ago, for slow clocks. `names` become DNS or IP entries of
 * subjectAltName.
 */
export function createCertificate(
  commonName: string,
  key: KeyPair,
  kind: Kind,
  validity: Validity = usualValidity(kind),
): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  const subject = [
    { name: 'commonName', value: commonName },
    { name: 'organizationName', value: 'Sandbox Bank' },
  ];
  certificate.publicKey = key.publicKey;
  certificate.serialNumber = randomSerial();
  Object.assign(certificate.validity, validity);
  certificate.setSubject(subject);
  certificate.setIssuer(kind.use === 'root' ? subject : kind.issuer.certificate.subject.attributes);
  const issuer = kind.use === 'root' ? certificate : kind.issuer.certificate;
  certificate.setExtensions([
    ...usage(kind),
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ]);
  const signer = kind.use === 'root' ? key : kind.issuer.key;
  // Builds the certificate with forge and signs it with Node: forge's own RSA takes up to a second.
  const signNatively = (): string => {
    const content = Buffer.from(forge.asn1.toDer(certificate.tbsCertificate).getBytes(), 'binary');
    return sign('sha256', content, signer.pem).toString('binary');
  };
  certificate.sign({ ...signer.privateKey, sign: signNatively }, forge.md.sha256.create());
  return certificate;
}

function usualValidity(kind: Kind): Validity {
  const now = Date.now();
  return { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + (isAuthority(kind) ? 5 : 1) * YEAR_MS) };
}

function isAuthority(kind: Kind): boolean {
  return kind.use === 'root' || kind.use === 'intermediate';
}

function usage(kind: Kind): object[] {
  if (kind.use === 'root' || kind.use === 'intermediate') {
    const depth = kind.use === 'intermediate' ? { pathLenConstraint: 0 } : {};
    return [
      { name: 'basicConstraints', critical: true, cA: true, ...depth },
      { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    ];
  }
  const common = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
  ];
  if (kind.use === 'client') return [...common, { name: 'extKeyUsage', clientAuth: true }];
  const altNames = kind.names.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name }));
  return [...common, { name: 'extKeyUsage', serverAuth: true }, { name: 'subjectAltName', altNames }];
}

/** 16 random octets, positive and without leading zeros (RFC 5280 §4.1.2.2). */
function randomSerial(): string {
  const octets = randomBytes(16);
  octets.writeUInt8((octets.readUInt8(0) & 0x3f) | 0x40, 0);
  return octets.toString('hex');
}
