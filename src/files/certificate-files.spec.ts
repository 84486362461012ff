import { createPrivateKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../../test/support/closing.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { hasOpenssl } from '../../test/support/tools.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readListenerPair, toCertificates, toPfx, toPrivateKeys } from './certificate-files.js';

const PASSCODE = 'correct horse';
const LEGACY = ['-provider', 'legacy', '-provider', 'default'];

let workshop: Workshop;
/** PEM of each. */
let root: string;
let leaf: string;
let key: string;
let pfx: Buffer;
beforeAll(() => {
  if (!hasOpenssl()) return;
  workshop = new Workshop();
  workshop.makeRoot('root');
  workshop.makeIntermediate('middle', 'root');
  workshop.makeLeaf('leaf', { issuer: 'middle' });
  root = new X509Certificate(workshop.read('root.pem')).toString();
  leaf = new X509Certificate(workshop.read('leaf.pem')).toString();
  key = workshop.read('leaf.key').toString();
  pfx = workshop.makePfx('leaf', PASSCODE);
});

/** `reason: message` of the rejection; fails the test if there is none. */
function rejectionOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    expect(error.message).toMatch(/^[\x20-\x7e]{5,400}$/);
    return `${error.reason}: ${error.problem}; ${error.remedy}`;
  }
  throw new Error('nothing was rejected');
}

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');
/** As certutil -encode writes it, whatever the content. */
const armour = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\r\n${base64(bytes).replace(/.{1,64}/g, '$&\r\n')}-----END CERTIFICATE-----\r\n`;
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const derOf = (pem: string): Buffer => new X509Certificate(pem).raw;

(hasOpenssl() ? describe : describe.skip)('certificates', () => {
  it.each<[string, () => string | Buffer]>([
    ['glued together', () => root.trim() + leaf.trim()],
    [
      'with text around them, Latin-1 too',
      () => Buffer.from(`Société\nsubject=x\n${root}\n# next\n${leaf}end`, 'latin1'),
    ],
    ['with CRLF', () => (root + leaf).replaceAll('\n', '\r\n')],
    ['with CR', () => (root + leaf).replaceAll('\n', '\r')],
    ['with a byte order mark', () => `\ufeff${root}${leaf}`],
    ['in UTF-16', () => utf16(root + leaf)],
    ['in UTF-16, big endian', () => utf16(root + leaf).swap16()],
    ['in UTF-16 without a mark', () => utf16(root + leaf).subarray(2)],
    ['indented', () => (root + leaf).replace(/^/gm, '    ')],
    ['on one line each', () => (root + leaf).replace(/([^-])\n/g, '$1')],
    ['with line ends as \\n', () => JSON.stringify({ ca: root + leaf })],
    ['beside a key', () => root + key + leaf],
    ['as base64 text', () => base64(root + leaf)],
    ['as base64 text, twice', () => base64(base64(root + leaf))],
    ['as BEGIN TRUSTED CERTIFICATE', () => (root + leaf).replaceAll(' CERTIFICATE', ' TRUSTED CERTIFICATE')],
  ])('are read %s', (_form, make) => {
    expect(toCertificates(Buffer.from(make())).map(String)).toEqual([root, leaf]);
  });

  it.each<[string, () => string | Buffer]>([
    ['DER', () => derOf(root)],
    ['base64 of DER', () => base64(derOf(root))],
    ['a data URL', () => `data:application/x-x509-ca-cert;base64,${base64(derOf(root))}`],
  ])('one is read as %s', (_form, make) => {
    expect(toCertificates(Buffer.from(make())).map(String)).toEqual([root]);
  });

  it.each<[string, () => string | Buffer, RegExp]>([
    ['an empty file', () => ' \r\n', /^damaged: is empty/],
    [
      'a page',
      () => '<!DOCTYPE html><html><title>Log in</title>',
      /^no-certificate: is an HTML page, not a certificate/,
    ],
    [
      'PKCS#7',
      () => workshop.openssl('crl2pkcs7', '-nocrl', '-certfile', 'root.pem'),
      /is PKCS#7 \(\.p7b\), not a certificate; .*openssl pkcs7/,
    ],
    [
      'PKCS#7 in DER',
      () => workshop.openssl('crl2pkcs7', '-nocrl', '-certfile', 'root.pem', '-outform', 'DER'),
      /is PKCS#7 .*openssl pkcs7/,
    ],
    ['a PFX', () => pfx, /is a PFX \(PKCS#12\), not a certificate; take the certificates out: openssl pkcs12/],
    ['a key', () => key, /is a private key, not a certificate/],
    [
      'a request',
      () => workshop.openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=x'),
      /is a certificate request \(CSR\), not a certificate/,
    ],
    ['text', () => 'hello', /is text of an unknown kind/],
    ['noise', () => Buffer.from('c0ffee00c0ffee', 'hex'), /is a binary file of an unknown kind/],
    ['one that is cut off', () => root + leaf.slice(0, 300), /^damaged: contains a CERTIFICATE block that is cut off/],
    [
      'one whose bytes look like JSON',
      () => root + armour(Buffer.from('[\u0001')),
      /^damaged: contains a damaged CERTIFICATE block/,
    ],
    [
      'one without its begin',
      () => root + leaf.replace(/\n.{20}/, '\n'),
      /^damaged: contains a damaged CERTIFICATE block/,
    ],
    [
      'one without a line',
      () => root + leaf.replace(/(?<=\n.*\n).*\n/, ''),
      /^damaged: contains a damaged CERTIFICATE block/,
    ],
    ['one with a foreign character', () => root + leaf.replace(/\n./, '\n*'), /^damaged: contains a damaged/],
    ['DER that is cut off', () => derOf(root).subarray(0, 200), /^damaged: /],
  ])('%s is rejected, and named', (_what, make, message) => {
    expect(rejectionOf(() => toCertificates(Buffer.from(make())))).toMatch(message);
  });
});

(hasOpenssl() ? describe : describe.skip)('a private key', () => {
  const pkey = (...args: string[]) => workshop.openssl('pkey', '-in', 'leaf.key', ...args);
  const encrypted = (...args: string[]) =>
    workshop.openssl('pkcs8', '-topk8', '-in', 'leaf.key', '-passout', `pass:${PASSCODE}`, ...LEGACY, ...args);

  it.each<[string, () => string | Buffer]>([
    [
      'after EC PARAMETERS',
      () =>
        workshop
          .openssl('ecparam', '-genkey', '-name', 'P-256')
          .toString()
          .split(/(?=-----BEGIN EC PRIV)/)[0] + key,
    ],
    ['behind its chain', () => leaf + root + key],
    ['glued', () => leaf.trim() + key.trim()],
    ['in UTF-16', () => utf16(key)],
    ['as DER', () => pkey('-outform', 'DER')],
    ['as DER, as openssl ec writes it', () => pkey('-traditional', '-outform', 'DER')],
    ['as base64 of DER', () => base64(pkey('-outform', 'DER'))],
    ['encrypted', () => encrypted('-v2', 'aes-256-cbc')],
    ['encrypted with scrypt', () => encrypted('-scrypt')],
    ['encrypted as DER', () => encrypted('-outform', 'DER')],
    ['encrypted as openssl ec does', () => pkey('-traditional', '-aes128', '-passout', `pass:${PASSCODE}`)],
    [
      'encrypted so, with CRLF',
      () => pkey('-traditional', '-aes128', '-passout', `pass:${PASSCODE}`).toString().replaceAll('\n', '\r\n'),
    ],
  ])('is read %s', (_form, make) => {
    const [read] = toPrivateKeys(Buffer.from(make()), PASSCODE);
    expect(read?.equals(createPrivateKey(key))).toBe(true);
  });

  it.each<[string, () => Buffer]>([
    ['DES in PKCS#5', () => encrypted('-v2', 'des')],
    ['RC2 in PKCS#5', () => encrypted('-v2', 'rc2')],
    ['PBE-MD5-DES', () => encrypted('-v1', 'PBE-MD5-DES')],
    ['PBE-SHA1-RC2-128', () => encrypted('-v1', 'PBE-SHA1-RC2-128')],
    ['PBE-SHA1-RC4-128', () => encrypted('-v1', 'PBE-SHA1-RC4-128')],
    ['DES in the old form', () => pkey('-traditional', '-des', '-passout', `pass:${PASSCODE}`, ...LEGACY)],
  ])('with %s is named as such, and never as a wrong passphrase', (_cipher, make) => {
    const file = make();
    for (const passphrase of [PASSCODE, 'wrong', '']) {
      const rejection = rejectionOf(() => toPrivateKeys(file, passphrase));
      expect(rejection).toMatch(
        /^unknown-algorithm: is a private key that is encrypted with .*convert it: openssl pkcs8/,
      );
    }
  });

  it.each<[string, () => string | Buffer, string, RegExp]>([
    ['with a wrong passphrase', () => encrypted(), 'wrong', /^passcode: .*or its passphrase is wrong/],
    ['without one', () => encrypted(), '', /^passcode: is a private key that is encrypted/],
    ['that is damaged', () => key.replace(/\n.{20}/, '\n'), '', /^no-key: is a damaged private key/],
    [
      'of OpenSSH',
      () => key.replaceAll('PRIVATE', 'OPENSSH PRIVATE'),
      '',
      /^no-key: is a key of OpenSSH, not a private key/,
    ],
    ['that is a certificate', () => leaf, '', /^no-key: is a certificate, not a private key/],
    ['that is a PFX', () => pfx, '', /is a PFX \(PKCS#12\), not a private key; take the key out: openssl pkcs12/],
    ['that is a public key', () => pkey('-pubout'), '', /is a public key, not a private key/],
  ])('%s is rejected', (_what, make, passphrase, message) => {
    expect(rejectionOf(() => toPrivateKeys(Buffer.from(make()), passphrase))).toMatch(message);
  });
});

(hasOpenssl() ? describe : describe.skip)('a PFX', () => {
  it.each<[string, () => string | Buffer]>([
    ['DER', () => pfx],
    ['base64', () => base64(pfx)],
    ['base64 with line ends', () => base64(pfx).replace(/.{1,76}/g, '$&\r\n')],
    ['base64 in quotes', () => `"${base64(pfx)}"`],
    ['base64, twice', () => base64(base64(pfx))],
    ['the armour of certutil', () => armour(pfx)],
    ['the armour of certutil, in UTF-16', () => utf16(armour(pfx))],
    ['the armour of certutil around base64', () => armour(Buffer.from(base64(pfx)))],
    ['base64 of the armour', () => base64(armour(pfx))],
    ['armour by openssl', () => armour(pfx).replaceAll('CERTIFICATE', 'PKCS12')],
  ])('is read from %s', (_form, make) => {
    expect(toPfx(Buffer.from(make())).equals(pfx)).toBe(true);
  });

  it.each<[string, () => string | Buffer, RegExp]>([
    ['a certificate in DER', () => derOf(leaf), /^wrong-kind: is a certificate, not a PFX; export it with its key/],
    ['PEM', () => leaf + key, /^wrong-kind: is a certificate and a private key, not a PFX; .*BANK_CERT_FILE/],
    [
      'PKCS#7',
      () => workshop.openssl('crl2pkcs7', '-nocrl', '-certfile', 'root.pem', '-outform', 'DER'),
      /is PKCS#7 .*; export the certificate with its key/,
    ],
    ['a page', () => '<html>', /^wrong-kind: is an HTML page/],
    ['base64 of a page', () => base64('<!DOCTYPE html><html>'), /^wrong-kind: is an HTML page/],
    ['base64 of a page, twice', () => base64(base64('<html>')), /^wrong-kind: is an HTML page/],
    [
      'base64 of a request',
      () => base64('-----BEGIN NEW CERTIFICATE REQUEST-----\nMIIB\n-----END NEW CERTIFICATE REQUEST-----'),
      /is a certificate request/,
    ],
    ['a path', () => '/run/secrets/client.pfx', /^wrong-kind: is the path of a file/],
    ['a path of Windows', () => 'C:\\bank\\my client.pfx\r\n', /^wrong-kind: is the path of a file/],
    ['text', () => 'hello', /^wrong-kind: is text of an unknown kind, not a PFX; use the \.pfx or \.p12 file/],
    ['hexadecimal digits', () => pfx.toString('hex'), /^wrong-kind: is hexadecimal digits/],
    ['a keystore', () => Buffer.from('feedfeed00000002', 'hex'), /^wrong-kind: is a Java keystore \(JKS\), not a PFX/],
    ['an empty file', () => '', /^damaged: is empty/],
    ['base64 that is cut off at its begin', () => base64(pfx).slice(7), /^wrong-kind: is text of an unknown kind/],
  ])('%s is rejected, and named', (_what, make, message) => {
    expect(rejectionOf(() => toPfx(Buffer.from(make())))).toMatch(message);
  });
});

(hasOpenssl() ? it : it.skip)(
  'the listener gets its own certificate first, then its chain, whatever the order in the file',
  () => {
    const directory = temporaryDirectory();
    const [cert, keyFile] = [join(directory, 'server.pem'), join(directory, 'server.key')];
    const middle = new X509Certificate(workshop.read('middle.pem')).toString();
    writeFileSync(cert, root.trim() + middle.trim() + leaf);
    writeFileSync(keyFile, utf16(key));
    expect(readListenerPair(cert, keyFile).cert).toBe(leaf + middle + root);
  },
);
