import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readBlocks, type Block } from './pem-or-der.js';
import { FileUnusable, readSmallFile } from './small-file.js';

export interface KeysAndCertificates {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly X509Certificate[];
}

const COPY_AGAIN = 'copy it again';

const NAMES = { certificate: 'certificate', key: 'private key', pfx: 'PFX' } as const;

/** Advice if a file of one kind is given in place of another, where a command or another setting helps. */
const ADVICE = new Map([
  [
    'pkcs7 for certificate',
    'convert it: openssl pkcs7 -print_certs -in old.p7b -out new.pem (with -inform DER if it is binary)',
  ],
  ['pkcs7 for pfx', 'export the certificate with its key as PFX'],
  ['pfx for certificate', 'take the certificates out: openssl pkcs12 -legacy -in old.pfx -nokeys -out new.pem'],
  ['pfx for key', 'take the key out: openssl pkcs12 -legacy -in old.pfx -nocerts -out key.pem'],
  ['certificate for pfx', 'export it with its key as PFX, or set BANK_CERT_FILE and BANK_KEY_FILE to PEM files'],
  ['key for pfx', 'set BANK_CERT_FILE and BANK_KEY_FILE to PEM files instead'],
  ['other for pfx', 'use the .pfx or .p12 file as it was exported, or its base64 text (base64 -w0 client.pfx)'],
]);

function rejectKind(blocks: readonly Block[], wanted: keyof typeof NAMES): never {
  const [block] = blocks;
  if (!block || block.kind === 'empty') throw new CertificateUnreadable('damaged', 'is empty', COPY_AGAIN);
  const bad = blocks.find(({ kind }) => kind === 'damaged');
  if (bad) throw new CertificateUnreadable('damaged', `contains ${bad.words}`, COPY_AGAIN);
  const words = [...new Set(blocks.map((each) => each.words))].slice(0, 3).join(' and ');
  const reason = wanted === 'pfx' ? 'wrong-kind' : (`no-${wanted}` as const);
  const remedy = ADVICE.get(`${block.kind} for ${wanted}`) ?? `use the file with the ${NAMES[wanted]}`;
  throw new CertificateUnreadable(reason, `is ${words}, not a ${NAMES[wanted]}`, remedy);
}

/** The certificates in a file in any format of `readBlocks`. @throws CertificateUnreadable, even if only one is damaged */
export function toCertificates(bytes: Buffer): X509Certificate[] {
  const blocks = readBlocks(bytes);
  const certificates = blocks.filter(({ kind }) => kind === 'certificate');
  if (certificates.length === 0 || blocks.some(({ kind }) => kind === 'damaged')) rejectKind(blocks, 'certificate');
  return certificates.map(({ der }) => new X509Certificate(der));
}

/** The private keys in a file in any format of `readBlocks`. @throws CertificateUnreadable */
export function toPrivateKeys(bytes: Buffer, passphrase: string): KeyObject[] {
  const blocks = readBlocks(bytes);
  const keys = blocks.filter(({ kind }) => kind === 'key');
  if (keys.length === 0) rejectKind(blocks, 'key');
  return keys.map(({ pem }) => toPrivateKey(pem, passphrase));
}

function toPrivateKey(pem: string, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!pem.includes('ENCRYPTED'))
      throw new CertificateUnreadable('no-key', 'is a damaged private key', COPY_AGAIN, { cause });
    if (code === 'ERR_OSSL_EVP_UNSUPPORTED') {
      const cipher = /^DEK-Info: ?([\w-]+)/m.exec(pem)?.[1] ?? 'an old cipher such as DES, RC2, RC4 or PBE-MD5';
      const is = `is a private key that is encrypted with ${cipher}, which the gateway does not support`;
      const again = 'openssl pkcs8 -topk8 -provider legacy -provider default -in old.key -v2 aes-256-cbc -out new.key';
      throw new CertificateUnreadable('unknown-algorithm', is, `convert it: ${again}`, { cause });
    }
    const problem =
      passphrase === '' ? 'is a private key that is encrypted' : 'is a damaged private key, or its passphrase is wrong';
    throw new CertificateUnreadable('passcode', problem, 'decrypt it: openssl pkey -in old.key -out new.key', {
      cause,
    });
  }
}

/** The PFX in a file in any format of `readBlocks`. @throws CertificateUnreadable */
export function toPfx(bytes: Buffer): Buffer {
  const blocks = readBlocks(bytes);
  return blocks.find(({ kind }) => kind === 'pfx')?.der ?? rejectKind(blocks, 'pfx');
}

/** The certificates in a file, and their PEM for TLS: OpenSSL would silently skip a damaged one. @throws FileUnusable */
export function readCertificates(path: string) {
  const certificates = inFile(path, toCertificates);
  return { pem: certificates.map(String).join(''), certificates };
}

/** TLS_CERT_FILE with its key. `certificate` is the server's own. @throws FileUnusable */
export function readListenerPair(certFile: string, keyFile: string) {
  const { certificates } = readCertificates(certFile);
  const [pair] = toPairs({ certificates, keys: inFile(keyFile, (bytes) => toPrivateKeys(bytes, '')) });
  if (!pair) throw new FileUnusable(keyFile, `does not match TLS_CERT_FILE ${certFile}`);
  const { certificate } = pair;
  const issuers = toIssuers(certificate, certificates);
  const cert = [certificate, ...issuers].map(String).join('');
  const key = pair.key.export({ format: 'pem', type: 'pkcs8' }).toString();
  const reason = whyNotForTls(cert, key);
  if (reason !== null) throw new FileUnusable(certFile, `OpenSSL rejects for TLS (${reason})`);
  return { cert, key, certificate, issuers };
}

/** The certificates whose private key is there too, each with it. */
export const toPairs = ({ keys, certificates }: KeysAndCertificates) =>
  certificates.flatMap((certificate) =>
    keys.filter((key) => isKeyOf(key, certificate)).map((key) => ({ key, certificate })),
  );

/** OpenSSL's own words if it rejects the PEM texts for TLS, for example "ee key too small"; else null. */
export function whyNotForTls(cert: string, key: string): string | null {
  try {
    createSecureContext({ cert, key });
    return null;
  } catch (error) {
    return (error as { readonly reason?: string }).reason ?? 'no reason given';
  }
}

/** @throws FileUnusable */
function inFile<T>(path: string, read: (bytes: Buffer) => T): T {
  const bytes = readSmallFile(path);
  try {
    return read(bytes);
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    throw new FileUnusable(path, `${error.problem}; ${error.remedy}`, { cause: error });
  }
}

/** The leaf's issuers among the certificates, upwards to the root; of several, the one that expires last. */
export function toIssuers(leaf: X509Certificate, certificates: readonly X509Certificate[]): X509Certificate[] {
  const issuers: X509Certificate[] = [];
  const latestFirst = certificates.toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime());
  let next: X509Certificate | undefined = leaf;
  while (next && !isSelfSigned(next)) {
    const last: X509Certificate = next;
    next = latestFirst.find((each) => each !== leaf && !issuers.includes(each) && issued(each, last));
    if (next) issuers.push(next);
  }
  return issuers;
}

/** Without `checkIssued`, which is false for a certificate whose key usage allows no signing of certificates. */
export const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.subject === certificate.issuer && isSigned(certificate, certificate);

export const issued = (issuer: X509Certificate, subject: X509Certificate): boolean =>
  subject.checkIssued(issuer) && isSigned(subject, issuer);

function isSigned(subject: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return subject.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function isKeyOf(key: KeyObject, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    return false;
  }
}

/** The lines of node:crypto's names as one line in the order of RFC 4514: "CN=client, O=Company, C=LT". */
export const toDistinguishedName = (lines: string | undefined): string =>
  (lines ?? '').split('\n').filter(Boolean).reverse().join(', ');
