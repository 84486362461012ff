import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  bag,
  certificateBag,
  der,
  emptySealPfx,
  octets,
  oid,
  pbmac1Pfx,
  plainPfx,
  sequence,
  toBer,
} from './der.test-support.js';
import { hasProgram, Workshop } from './openssl.test-support.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { readPfx } from './read-pfx.js';
import { EXPORT_AGAIN, PFX_FROM_JCEKS, PFX_FROM_JKS } from './remedy.js';

const PASSCODE = 'correct horse';
const legacy = (name: string): string[] => ['-keypbe', name, '-certpbe', name, '-macalg', 'SHA1'];
const withPassOpenssl = hasProgram('openssl', 'version') ? describe : describe.skip;

/** What readPfx refuses with; fails the test if it reads. */
function refusalOf(bytes: Buffer, passcode: string): PfxUnreadable {
  try {
    readPfx(bytes, passcode);
  } catch (error) {
    if (error instanceof PfxUnreadable) return error;
    throw error;
  }
  throw new Error('was read');
}

withPassOpenssl('a PFX that a program made is read', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('ec');
    workshop.makeLeaf('rsa', { key: 'RSA -pkeyopt rsa_keygen_bits:2048' });
    workshop.makeLeaf('p384', { key: 'EC -pkeyopt ec_paramgen_curve:P-384' });
    workshop.makeLeaf('ed25519', { key: 'ed25519' });
  });
  afterAll(() => workshop[Symbol.dispose]());

  function expectIdentity(bytes: Buffer, passcode: string, name = 'ec'): void {
    const { keys, certificates } = readPfx(bytes, passcode);
    const publicKey = createPublicKey(workshop.read(`${name}.pem`)).export({ format: 'pem', type: 'spki' });
    expect(keys.map(({ key }) => createPublicKey(key).export({ format: 'pem', type: 'spki' }))).toEqual([publicKey]);
    expect(certificates.map(({ certificate }) => certificate.fingerprint256)).toEqual([
      new X509Certificate(workshop.read(`${name}.pem`)).fingerprint256,
    ]);
  }

  it.each<[string, string[], string[]]>([
    ['AES-256, SHA-256', [], []],
    ['AES-256, SHA-1 as Windows', ['-macalg', 'SHA1'], []],
    ['AES-128, SHA-512', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'SHA512'], []],
    ['AES-192, SHA-384', ['-keypbe', 'AES-192-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'SHA384'], []],
    ['AES-256, SHA-224', ['-macalg', 'SHA224'], []],
    ['AES-256, MD5', ['-macalg', 'MD5'], ['an MD5 MAC']],
    ['Camellia and ARIA', ['-keypbe', 'CAMELLIA-256-CBC', '-certpbe', 'ARIA-128-CBC'], []],
    ['3DES in PBES2', ['-keypbe', 'DES-EDE3-CBC', '-certpbe', 'AES-256-CBC'], ['PBES2 DES-EDE3-CBC']],
    ['RC2 in PBES2', ['-keypbe', 'rc2-cbc', '-certpbe', 'rc2-40-cbc'], ['PBES2 RC2-40-CBC', 'PBES2 RC2-128-CBC']],
    ['3DES', legacy('PBE-SHA1-3DES'), ['PBE-SHA1-3DES']],
    ['3DES with two keys', legacy('PBE-SHA1-2DES'), ['PBE-SHA1-2DES']],
    ['RC2-40', legacy('PBE-SHA1-RC2-40'), ['PBE-SHA1-RC2-40']],
    ['RC2-128', legacy('PBE-SHA1-RC2-128'), ['PBE-SHA1-RC2-128']],
    ['RC4-40', legacy('PBE-SHA1-RC4-40'), ['PBE-SHA1-RC4-40']],
    ['RC4-128', legacy('PBE-SHA1-RC4-128'), ['PBE-SHA1-RC4-128']],
    [
      'RC2-40 and 3DES, old Windows',
      ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-RC2-40', '-macalg', 'SHA1'],
      ['PBE-SHA1-RC2-40', 'PBE-SHA1-3DES'],
    ],
    ['one round', ['-noiter', '-nomaciter'], []],
    ['no MAC', ['-nomac'], []],
    ['not encrypted', ['-keypbe', 'NONE', '-certpbe', 'NONE'], []],
  ])('%s, and not with another passcode', (_, args, legacyAlgorithms) => {
    const bytes = workshop.makePfx('ec', PASSCODE, ...args);
    expectIdentity(bytes, PASSCODE);
    expect(readPfx(bytes, PASSCODE).legacyAlgorithms).toEqual(legacyAlgorithms);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it.each(['rsa', 'p384', 'ed25519'])('with a key of kind %s', (name) => {
    expectIdentity(workshop.makePfx(name, PASSCODE), PASSCODE, name);
  });

  it('says when it has no MAC', () => {
    expect(readPfx(workshop.makePfx('ec', PASSCODE, '-nomac'), PASSCODE).remarks).toEqual([
      expect.stringContaining('no MAC'),
    ]);
    expect(readPfx(workshop.makePfx('ec', PASSCODE), PASSCODE).remarks).toEqual([]);
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

  it('under a passcode that the writer took as Latin-1, or byte by byte, or composed otherwise', () => {
    workshop.write('latin1', Buffer.from('pässwörd', 'latin1'));
    const bytes = workshop.makePfx('ec', '', '-passout', 'file:latin1');
    expectIdentity(bytes, 'pässwörd');
    const bytewise = Buffer.from('pässwörd').toString('latin1');
    expectIdentity(workshop.makePfx('ec', bytewise, ...legacy('PBE-SHA1-3DES')), 'pässwörd');
    expectIdentity(workshop.makePfx('ec', 'pässwörd'.normalize('NFD')), 'pässwörd');
  });

  it('in BER, as OpenSSL reads it too', () => {
    const bytes = toBer(workshop.makePfx('ec', PASSCODE));
    expectIdentity(bytes, PASSCODE);
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
    expect(refusalOf(bytes.subarray(0, -100), PASSCODE).reason).toBe('cut-off');
  });

  it('in BER within BER, with bytes after it', () => {
    const plain = workshop.makePfx('ec', PASSCODE, '-nomac', '-certpbe', 'NONE', '-keypbe', 'NONE');
    const bytes = Buffer.concat([toBer(plain), Buffer.alloc(3)]);
    expectIdentity(bytes, PASSCODE);
  });

  it('with PBMAC1, as OpenSSL reads it too', () => {
    const key = createPrivateKey(workshop.read('ec.key')).export({ format: 'der', type: 'pkcs8' });
    const bags = [certificateBag(new X509Certificate(workshop.read('ec.pem')).raw), bag('1', key)];
    const bytes = pbmac1Pfx(bags, PASSCODE);
    expectIdentity(bytes, PASSCODE);
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it('sealed under the empty passcode as no bytes at all, as OpenSSL reads it too', () => {
    const bags = [certificateBag(new X509Certificate(workshop.read('ec.pem')).raw)];
    const bytes = emptySealPfx(bags);
    expect(readPfx(bytes, '').certificates).toHaveLength(1);
    expect(() => createSecureContext({ pfx: bytes })).toThrow(/private key|no key|Unable to load/i);
    expect(refusalOf(bytes, 'given').message).toContain('empty passcode');
  });

  it('protected for a Windows account: named, with the command', () => {
    const secret = bag('5', sequence(oid('1.3.6.1.4.1.311.17.4'), der(0xa0, octets(Buffer.alloc(9)))));
    expect(refusalOf(pbmac1Pfx([secret], PASSCODE), '').message).toMatch(
      /Windows account.*Export-PfxCertificate -Password/,
    );
  });

  it('with scrypt, and in a bag within a bag', () => {
    workshop.openssl(
      'pkcs8',
      '-topk8',
      '-scrypt',
      '-in',
      'ec.key',
      '-outform',
      'DER',
      '-out',
      'ec.p8',
      '-passout',
      `pass:${PASSCODE}`,
    );
    const nested = bag('6', sequence(bag('2', workshop.read('ec.p8'))));
    const bytes = plainPfx([certificateBag(new X509Certificate(workshop.read('ec.pem')).raw), nested]);
    expectIdentity(bytes, PASSCODE);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it.each([
    ['line end', `${PASSCODE}\r\n`, /ends with a line end; without it the file opens/],
    ['space', `${PASSCODE} `, /starts or ends with a space/],
    ['quotes', `"${PASSCODE}"`, /stands in quotes/],
    ['byte order mark', `\ufeff${PASSCODE}`, /byte order mark/],
    ['nothing', '', /none was given: set BANK_PFX_PASSCODE/],
    ['another', 'wrong', /passcode of the PFX is wrong/],
  ])('a slip in the passcode is named: %s', (_, given, message) => {
    const refusal = refusalOf(workshop.makePfx('ec', PASSCODE), given);
    expect(refusal.message).toMatch(message);
    expect(refusal.message).not.toContain(PASSCODE);
  });

  it('a passcode for a file that has the empty one is named', () => {
    expect(refusalOf(workshop.makePfx('ec', ''), 'given').message).toContain('empty passcode');
  });

  it('seal and key under two passcodes: named, whichever is given', () => {
    const made = ['pkcs8', '-topk8', '-in', 'ec.key', '-outform', 'DER', '-out', 'ec.p8'];
    workshop.openssl(...made, '-passout', 'pass:inner');
    const bytes = pbmac1Pfx([bag('2', workshop.read('ec.p8'))], PASSCODE);
    expect(refusalOf(bytes, PASSCODE).message).toContain('two passcodes');
    expect(refusalOf(bytes, 'inner').message).toContain('passcode of the PFX is wrong');
  });

  it('an unknown cipher is named, with the command', () => {
    const refusal = refusalOf(workshop.makePfx('ec', PASSCODE, ...legacy('PBE-MD5-DES')), PASSCODE);
    expect(refusal.reason).toBe('unknown-algorithm');
    expect(refusal.message).toMatch(
      /^The PFX is encrypted with PBE-MD5-DES \(1\.2\.840\.113549\.1\.5\.3\).*Convert it: openssl pkcs12 -legacy/,
    );
  });

  it('too many rounds are refused before they are run', () => {
    const started = performance.now();
    const refusal = refusalOf(pbmac1Pfx([], PASSCODE, 5_000_001), PASSCODE);
    expect(refusal.message).toContain('more than 5000000 rounds');
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('the commands that it recommends lead to a PFX without a warning', () => {
    workshop.makePfx('ec', PASSCODE, ...legacy('PBE-MD5-DES'), '-out', 'old.pfx');
    const command = EXPORT_AGAIN.replace('-nodes', '-nodes -passin env:P').replace('-export', '-export -passout env:P');
    workshop.run('sh', ['-c', command], { P: PASSCODE });
    expectIdentity(workshop.read('new.pfx'), PASSCODE);
    expect(readPfx(workshop.read('new.pfx'), PASSCODE).legacyAlgorithms).toEqual([]);
    expect(existsSync(join(workshop.directory, 'tmp.pem'))).toBe(false);
  });
});

(hasProgram('keytool', '-help') ? describe : describe.skip)('a keystore of Java', () => {
  const identity = ['-genkeypair', '-alias', 'client', '-keyalg', 'EC', '-dname', 'CN=client', '-storepass', PASSCODE];

  it('is read as PKCS#12, the older kind too', () => {
    using workshop = new Workshop();
    workshop.run('keytool', [...identity, '-storetype', 'PKCS12', '-keystore', 'new.p12']);
    workshop.run('keytool', [
      ...identity,
      '-storetype',
      'PKCS12',
      '-keystore',
      'old.p12',
      '-J-Dkeystore.pkcs12.legacy',
    ]);
    expect(readPfx(workshop.read('new.p12'), PASSCODE)).toMatchObject({ keys: [{}], legacyAlgorithms: [] });
    const old = readPfx(workshop.read('old.p12'), PASSCODE);
    expect(old).toMatchObject({ keys: [{}], legacyAlgorithms: ['PBE-SHA1-3DES', 'PBE-SHA1-RC2-40'] });
  });

  it.each([
    ['JKS', PFX_FROM_JKS],
    ['JCEKS', PFX_FROM_JCEKS],
  ])('as %s is refused with the command that converts it', (kind, command) => {
    using workshop = new Workshop();
    workshop.run('keytool', [...identity, '-keypass', PASSCODE, '-storetype', kind, '-keystore', 'client.jks']);
    const refusal = refusalOf(workshop.read('client.jks'), PASSCODE);
    expect(refusal.message).toBe(`The file is a Java keystore (${kind}), not a PFX; convert it: ${command}.`);
    workshop.run('sh', ['-c', `${command} -srcstorepass "$P" -deststorepass "$P"`], { P: PASSCODE });
    expect(readPfx(workshop.read('client.pfx'), PASSCODE)).toMatchObject({ keys: [{}], certificates: [{}] });
  });
});
