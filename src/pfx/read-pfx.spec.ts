import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasKeytool, hasOpenssl } from '../../test/support/tools.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { bag, certificateBag, der, octets, oid, pbmac1Pfx, sequence, toBer } from '../../test/support/der.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { readPfx } from './read-pfx.js';
import { EXPORT_AGAIN, PFX_FROM_JKS } from './remedy.js';

const PASSCODE = 'correct horse';
const legacy = (name: string): string[] => ['-keypbe', name, '-certpbe', name, '-macalg', 'SHA1'];
const OUTDATED = [expect.stringContaining('which is outdated')];

/** The error of readPfx; fails the test if it reads the file. */
function refusalOf(bytes: Buffer, passcode: string): CertificateUnreadable {
  try {
    readPfx(bytes, passcode);
  } catch (error) {
    if (error instanceof CertificateUnreadable) return error;
    throw error;
  }
  throw new Error('the file was read');
}

(hasOpenssl() ? describe : describe.skip)('a PFX that openssl wrote is read', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('ec');
    workshop.makeLeaf('rsa', { key: 'RSA -pkeyopt rsa_keygen_bits:2048' });
  });
  afterAll(() => workshop[Symbol.dispose]());

  function expectIdentity(bytes: Buffer, passcode: string, name = 'ec'): void {
    const { keys, certificates } = readPfx(bytes, passcode);
    const publicKey = createPublicKey(workshop.read(`${name}.pem`)).export({ format: 'pem', type: 'spki' });
    expect(keys.map((key) => createPublicKey(key).export({ format: 'pem', type: 'spki' }))).toEqual([publicKey]);
    expect(certificates.map(({ fingerprint256 }) => fingerprint256)).toEqual([
      new X509Certificate(workshop.read(`${name}.pem`)).fingerprint256,
    ]);
  }

  it.each<[string, string[], unknown[]]>([
    ['OpenSSL 3, Go', [], []],
    ['Windows since 2016', ['-macalg', 'SHA1'], []],
    ['AES-128, SHA-512', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'SHA512'], []],
    ['AES-192, SHA-384', ['-keypbe', 'AES-192-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'SHA384'], []],
    ['3DES in PBES2', ['-keypbe', 'DES-EDE3-CBC', '-certpbe', 'AES-256-CBC'], OUTDATED],
    ['3DES', legacy('PBE-SHA1-3DES'), OUTDATED],
    ['3DES with two keys', legacy('PBE-SHA1-2DES'), OUTDATED],
    ['RC2-128', legacy('PBE-SHA1-RC2-128'), OUTDATED],
    [
      'OpenSSL 1, macOS, Java 8, older Windows',
      ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-RC2-40', '-macalg', 'SHA1'],
      OUTDATED,
    ],
    ['10 000 rounds', [...legacy('PBE-SHA1-3DES'), '-iter', '10000'], OUTDATED],
    ['one round', ['-noiter', '-nomaciter'], []],
    ['no MAC', ['-nomac'], [expect.stringContaining('no MAC')]],
    ['not encrypted', ['-keypbe', 'NONE', '-certpbe', 'NONE'], []],
  ])('%s, and not with another passcode', (_, args, warnings) => {
    const bytes = workshop.makePfx('ec', PASSCODE, ...args);
    expectIdentity(bytes, PASSCODE);
    expect(readPfx(bytes, PASSCODE).warnings).toEqual(warnings);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it('with an RSA key', () => {
    expectIdentity(workshop.makePfx('rsa', PASSCODE), PASSCODE, 'rsa');
  });

  describe.each([
    ['AES', []],
    ['RC2-40', legacy('PBE-SHA1-RC2-40')],
  ])('%s under a passcode that is', (_, args) => {
    it.each(['', 'ąčęėįšųūž', 'pässwörd', 'Пароль', '密码 🔑', ' padded '])('"%s"', (passcode) => {
      const bytes = workshop.makePfx('ec', passcode, ...args);
      expectIdentity(bytes, passcode);
      expect(refusalOf(bytes, `${passcode}x`).reason).toBe('passcode');
    });
  });

  it('under a passcode that OpenSSL before 1.1.0 took byte by byte', () => {
    const bytewise = Buffer.from('pässwörd').toString('latin1');
    expectIdentity(workshop.makePfx('ec', bytewise, ...legacy('PBE-SHA1-3DES')), 'pässwörd');
  });

  it('in BER with bytes after it, as OpenSSL reads it too', () => {
    const bytes = toBer(workshop.makePfx('ec', PASSCODE));
    expectIdentity(Buffer.concat([bytes, Buffer.alloc(3)]), PASSCODE);
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it('with PBMAC1 in a bag within a bag, as OpenSSL reads it too', () => {
    const key = createPrivateKey(workshop.read('ec.key')).export({ format: 'der', type: 'pkcs8' });
    const bags = [certificateBag(new X509Certificate(workshop.read('ec.pem')).raw), bag('1', key)];
    const bytes = pbmac1Pfx(bags, PASSCODE);
    expectIdentity(bytes, PASSCODE);
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
    expectIdentity(pbmac1Pfx([bag('6', sequence(...bags))], PASSCODE), PASSCODE);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
    expect(refusalOf(pbmac1Pfx(bags, PASSCODE, { keyLength: 19 }), PASSCODE).message).toContain('RFC 9579');
  });

  it('but not with more rounds than 10 million', () => {
    expect(refusalOf(pbmac1Pfx([], PASSCODE, { rounds: 2 ** 46 }), PASSCODE).message).toContain('at most 10000000');
  });

  it.each([
    ['line end', `${PASSCODE}\r\n`, /ends with a line end; without it the file opens/],
    ['space', `${PASSCODE} `, /starts or ends with a space/],
    ['quotes', `"${PASSCODE}"`, /is in quotes/],
    ['byte order mark', `\ufeff${PASSCODE}`, /byte order mark/],
    ['nothing', '', /none was given. Set BANK_PFX_PASSCODE/],
    ['another', 'wrong', /passcode of the PFX is wrong/],
  ])('a slip in the passcode is named: %s', (_, given, message) => {
    const refusal = refusalOf(workshop.makePfx('ec', PASSCODE), given);
    expect(refusal.message).toMatch(message);
    expect(refusal.message).not.toContain(PASSCODE);
  });

  it('a passcode for a file with the empty one is named', () => {
    expect(refusalOf(workshop.makePfx('ec', ''), 'given').message).toContain('empty passcode');
  });

  it('MAC and key under two passcodes are named', () => {
    workshop.openssl('pkcs8', '-topk8', '-in', 'ec.key', '-outform', 'DER', '-out', 'ec.p8', '-passout', 'pass:inner');
    const bytes = pbmac1Pfx([bag('2', workshop.read('ec.p8'))], PASSCODE);
    expect(refusalOf(bytes, PASSCODE).message).toContain('two passcodes');
  });

  it('protection by a Windows account is named with the command', () => {
    const secret = bag('5', sequence(oid('1.3.6.1.4.1.311.17.4'), der(0xa0, octets(Buffer.alloc(9)))));
    expect(refusalOf(pbmac1Pfx([secret], PASSCODE), '').message).toMatch(/Windows account.*-Password/);
  });

  it.each(['PBE-SHA1-RC4-128', 'PBE-MD5-DES'])(
    '%s is refused with commands that lead to a PFX without a warning',
    (name) => {
      workshop.makePfx('ec', PASSCODE, ...legacy(name), '-out', 'old.pfx');
      const refusal = refusalOf(workshop.read('old.pfx'), PASSCODE);
      expect(refusal.reason).toBe('unknown-algorithm');
      expect(refusal.message).toContain(EXPORT_AGAIN);
      expect(refusal.message).toContain('BANK_CERT_FILE');
      const command = EXPORT_AGAIN.replace('-nodes', '-nodes -passin env:P').replace(
        '-export',
        '-export -passout env:P',
      );
      workshop.run('sh', ['-c', command], { P: PASSCODE });
      expectIdentity(workshop.read('new.pfx'), PASSCODE);
      expect(readPfx(workshop.read('new.pfx'), PASSCODE).warnings).toEqual([]);
      expect(existsSync(join(workshop.directory, 'tmp.pem'))).toBe(false);
    },
  );
});

(hasKeytool() ? describe : describe.skip)('a keystore of Java', () => {
  const identity = ['-genkeypair', '-alias', 'client', '-keyalg', 'EC', '-dname', 'CN=client', '-storepass', PASSCODE];

  it.each([
    ['present', [], []],
    ['Java 8', ['-J-Dkeystore.pkcs12.legacy'], OUTDATED],
  ])('is read as PKCS#12: %s', (_, flags, warnings) => {
    using workshop = new Workshop();
    workshop.run('keytool', [...identity, '-storetype', 'PKCS12', '-keystore', 'client.p12', ...flags]);
    expect(readPfx(workshop.read('client.p12'), PASSCODE)).toMatchObject({ keys: [expect.anything()], warnings });
  });

  it('as JKS is refused with the command that converts it', () => {
    using workshop = new Workshop();
    workshop.run('keytool', [...identity, '-keypass', PASSCODE, '-storetype', 'JKS', '-keystore', 'client.jks']);
    expect(refusalOf(workshop.read('client.jks'), PASSCODE).message).toContain(PFX_FROM_JKS);
    workshop.run('sh', ['-c', `${PFX_FROM_JKS} -srcstorepass "$P" -deststorepass "$P"`], { P: PASSCODE });
    expect(readPfx(workshop.read('client.pfx'), PASSCODE)).toMatchObject({ certificates: [expect.anything()] });
  });
});
