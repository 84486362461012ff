import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasKeytool, hasOpenssl } from '../../test/support/tools.js';
import {
  bag,
  certificateBag,
  der,
  emptyPasscodePfx,
  integer,
  octets,
  oid,
  pbmac1Pfx,
  plainPfx,
  sequence,
  toBer,
} from './der.test-support.js';
import { NAMES, Workshop } from './workshop.test-support.js';
import { KdfBudget } from './kdf-budget.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { readPfx as read } from './read-pfx.js';
import { EXPORT_AGAIN, PFX_FROM_JCEKS, PFX_FROM_JKS } from './remedy.js';

const PASSCODE = 'correct horse';
const readPfx = (bytes: Buffer, passcode: string, budget?: KdfBudget) => read(bytes, passcode, NAMES, budget);
const legacy = (name: string): string[] => ['-keypbe', name, '-certpbe', name, '-macalg', 'SHA1'];
const withPassOpenssl = hasOpenssl() ? describe : describe.skip;

/** What readPfx refuses with; fails the test if it reads. */
function refusalOf(bytes: Buffer, passcode: string, budget?: KdfBudget): PfxUnreadable {
  try {
    readPfx(bytes, passcode, budget);
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
    expect(keys.map((key) => createPublicKey(key).export({ format: 'pem', type: 'spki' }))).toEqual([publicKey]);
    expect(certificates.map(({ fingerprint256 }) => fingerprint256)).toEqual([
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

  it('with a MAC under the empty passcode as no bytes at all, as OpenSSL reads it too', () => {
    const bags = [certificateBag(new X509Certificate(workshop.read('ec.pem')).raw)];
    const bytes = emptyPasscodePfx(bags);
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

  it('MAC and key under two passcodes: named, whichever is given', () => {
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

  it.each([
    ['SHA512-224', [], []],
    ['SHA512-256', [], []],
    ['SHA3-224', [], []],
    ['SHA3-256', [], []],
    ['SHA3-384', [], []],
    ['SHA3-512', [], []],
  ])('a MAC with %s, and not with another passcode', (hash) => {
    const bytes = workshop.makePfx('ec', PASSCODE, '-macalg', hash);
    expectIdentity(bytes, PASSCODE);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it.each([
    ['sha512-224', '1.2.840.113549.2.12'],
    ['sha512-256', '1.2.840.113549.2.13'],
    ['sha3-224', '2.16.840.1.101.3.4.2.13'],
    ['sha3-256', '2.16.840.1.101.3.4.2.14'],
    ['sha3-384', '2.16.840.1.101.3.4.2.15'],
    ['sha3-512', '2.16.840.1.101.3.4.2.16'],
  ] as const)('PBMAC1 and PBKDF2 with HMAC-%s, and not with another passcode', (...hash) => {
    const bytes = pbmac1Pfx([certificateBag(new X509Certificate(workshop.read('ec.pem')).raw)], PASSCODE, { hash });
    expect(readPfx(bytes, PASSCODE).certificates).toHaveLength(1);
    expect(refusalOf(bytes, 'wrong').reason).toBe('passcode');
  });

  it('PBMAC1 with a key of 20 bytes, and not with one of 19', () => {
    expect(readPfx(pbmac1Pfx([], PASSCODE, { keyLength: 20 }), PASSCODE).keys).toEqual([]);
    const refusal = refusalOf(pbmac1Pfx([], PASSCODE, { keyLength: 19 }), PASSCODE);
    expect(refusal.message).toMatch(/key of 19 bytes; fewer than 20 .*RFC 9579.*forged/);
  });

  it('a salt that is no octet string is refused', () => {
    const salt = Buffer.alloc(8, 7);
    for (const saltNode of [sequence(octets(salt)), der(0x0c, salt), der(0x80, salt)]) {
      expect(refusalOf(pbmac1Pfx([], PASSCODE, { saltNode }), PASSCODE).reason).toBe('damaged');
    }
  });

  describe('however much key derivation the file asks for', () => {
    // some 2 s of work; a busy machine may take its time
    const PATIENCE_MS = 200_000;

    it.each([
      ['3DES with a million rounds for key, certificates and MAC each', 'PBE-SHA1-3DES', '1000000', 7_000_000],
      ['3DES and RC2-40 with 600000 rounds each, as NSS writes it', 'PBE-SHA1-RC2-40', '600000', 3_600_000],
    ])(
      '%s is read',
      (_name, certificates, iterations, rounds) => {
        const args = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', certificates, '-macalg', 'SHA1', '-iter', iterations];
        const bytes = workshop.makePfx('ec', PASSCODE, ...args);
        let charged = 0;
        class Patient extends KdfBudget {
          override charge(count: number): void {
            charged += count;
            super.charge(count);
          }
        }
        const contents = readPfx(bytes, PASSCODE, new Patient(PATIENCE_MS));
        expect(contents.certificates).toHaveLength(1);
        expect(charged).toBe(rounds);
      },
      PATIENCE_MS,
    );

    it.each([
      ['PBMAC1 of many rounds', () => pbmac1Pfx([], PASSCODE, { rounds: 2_400_000, keyLength: 512 }), 38_400_000],
      ['the KDF of PKCS#12', () => emptyPasscodePfx([], 4_900_000), 4_900_000],
    ])('%s is refused when the time does not suffice, and says how many rounds', (_name, make, rounds) => {
      const bytes = make();
      const startedAt = performance.now();
      const refusal = refusalOf(bytes, PASSCODE, new KdfBudget(200));
      expect(refusal.reason).toBe('unknown-algorithm');
      expect(refusal.message).toMatch(new RegExp(`^The PFX asks for ${rounds} rounds of key derivation or more`));
      // not 30 s: a native call that has begun cannot be ended
      expect(performance.now() - startedAt).toBeLessThan(5000);
    });

    it('rounds beyond all reason are refused before they are run', () => {
      const rounds = 2 ** 46;
      const startedAt = performance.now();
      const scrypt = (N: number, r: number, p: number) => {
        const kdf = sequence(
          oid('1.3.6.1.4.1.11591.4.11'),
          sequence(octets(Buffer.alloc(8)), integer(N), integer(r), integer(p)),
        );
        const aes = sequence(oid('2.16.840.1.101.3.4.1.42'), octets(Buffer.alloc(16)));
        const pbes2 = sequence(oid('1.2.840.113549.1.5.13'), sequence(kdf, aes));
        return plainPfx([bag('2', sequence(pbes2, octets(Buffer.alloc(64))))]);
      };
      expect(refusalOf(scrypt(2 ** 19, 8, 1), PASSCODE).message).toMatch(
        /scrypt in more than 64 MB .*N = 524288, r = 8/,
      );
      expect(refusalOf(scrypt(2 ** 16, 8, 1), PASSCODE).reason).toBe('passcode');
      expect(refusalOf(scrypt(2 ** 14, 1, 2 ** 18), PASSCODE).message).toContain('rounds of key derivation');
      expect(refusalOf(scrypt(3, 8, 1), PASSCODE).reason).toBe('damaged');
      expect(refusalOf(pbmac1Pfx([], PASSCODE, { rounds }), PASSCODE).message).toContain(`asks for ${rounds} rounds`);
      expect(refusalOf(emptyPasscodePfx([], rounds), PASSCODE).message).toContain(`asks for ${rounds} rounds`);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
    });
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

(hasKeytool() ? describe : describe.skip)('a keystore of Java', () => {
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
    expect(readPfx(workshop.read('new.p12'), PASSCODE)).toMatchObject({
      keys: [expect.anything()],
      legacyAlgorithms: [],
    });
    const old = readPfx(workshop.read('old.p12'), PASSCODE);
    expect(old).toMatchObject({ keys: [expect.anything()], legacyAlgorithms: ['PBE-SHA1-3DES', 'PBE-SHA1-RC2-40'] });
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
    expect(readPfx(workshop.read('client.pfx'), PASSCODE)).toMatchObject({
      keys: [expect.anything()],
      certificates: [expect.anything()],
    });
  });
});
