import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bag, certificateBag, pbmac1Pfx, toBer } from '../../test/support/der.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { hasKeytool, hasOpenssl, pathOf } from '../../test/support/tools.js';
import { toPfx } from '../files/certificate-files.js';
import type { Settings } from '../config/settings.js';
import { readIdentityMaterial } from './identity-material.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';
import { toClientCertificate, type ClientCertificate } from './client-certificate.js';
import { EXPORT_AGAIN } from '../files/passcode-based-encryption.js';
import { readPfx } from '../files/read-pfx.js';

// slightly after now, because the certificates of this test are valid from now on
const NOW = new Date(Date.now() + 60_000);
const IN_A_YEAR = new Date(NOW.getTime() + 365 * 86_400_000);
const PASSCODE = 'correct horse';
// few iterations, because each is slow
const legacy = (name: string): string[] => ['-keypbe', name, '-certpbe', name, '-macalg', 'SHA1', '-iter', '100'];
const INCOMPLETE = expect.stringContaining('The chain is incomplete');

let workshop: Workshop;
beforeAll(() => {
  workshop = new Workshop();
  if (!hasOpenssl()) return;
  workshop.makeRoot('root');
  workshop.makeIntermediate('middle', 'root');
  workshop.makeIntermediate('lower', 'middle');
  workshop.makeIntermediate('weak', 'root', 'RSA -pkeyopt rsa_keygen_bits:1024');
  workshop.makeLeaf('ec', { days: 20 });
  workshop.makeLeaf('rsa', { issuer: 'lower', key: 'RSA -pkeyopt rsa_keygen_bits:2048' });
  workshop.makeLeaf('server', { eku: 'serverAuth' });
  workshop.makeLeaf('any', { eku: '', days: 100 });
  workshop.makeLeaf('small', { key: 'RSA -pkeyopt rsa_keygen_bits:1024' });
});

const pem = (name: string): string => new X509Certificate(workshop.read(`${name}.pem`)).toString();

const open = async (bytes: Buffer, passcode = PASSCODE, { now = NOW, roots = ['root'] } = {}) => {
  const contents = await readPfx(toPfx(bytes), passcode);
  return toClientCertificate(
    contents,
    now,
    roots.map((name) => new X509Certificate(workshop.read(`${name}.pem`))),
  );
};

async function openPem(chain: Buffer, key: Buffer, passphrase = ''): Promise<ClientCertificate> {
  const secret = { file: null, read: () => passphrase };
  const [BANK_CERT_FILE, BANK_KEY_FILE] = [workshop.write('chain.crt', chain), workshop.write('key.key', key)];
  const files = { BANK_CERT_FILE, BANK_KEY_FILE, BANK_CA_FILE: workshop.write('ca.crt', workshop.read('root.pem')) };
  const rest = { BANK_KEY_PASSPHRASE: secret, BANK_USERNAME: secret, BANK_PASSWORD: secret };
  return (await readIdentityMaterial({ ...files, ...rest } as Settings, NOW)).certificate;
}

/** Reason and message of the error. Fails the test if the file opens. */
async function rejectionOf(opening: Promise<ClientCertificate>): Promise<string> {
  const error = await opening.then(
    () => new Error('the file was opened'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CertificateUnreadable)) throw error;
  expect(error.message).toMatch(/^[\x20-\x7e]{20,900}$/);
  expect(error.message).not.toContain(PASSCODE);
  return `${error.reason}: ${error.message}`;
}

/** A PFX with these keys and certificates that no tool would write. */
const pfxOf = (...names: string[]): Buffer => pbmac1Pfx(names.flatMap(toBags), PASSCODE);
function toBags(name: string): Buffer[] {
  const key = createPrivateKey(workshop.read(`${name}.key`)).export({ format: 'der', type: 'pkcs8' });
  return [certificateBag(new X509Certificate(workshop.read(`${name}.pem`)).raw), bag('1', key)];
}

(hasOpenssl() ? describe : describe.skip)('a PFX that openssl wrote', () => {
  it.each<[string, string[]]>([
    ['OpenSSL 3, Go', []],
    ['Windows since 2016', ['-macalg', 'SHA1']],
    ['AES-128, SHA-512', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'SHA512']],
    ['AES-192, SHA-384', ['-keypbe', 'AES-192-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'SHA384']],
    ['3DES in PBES2', ['-keypbe', 'DES-EDE3-CBC', '-certpbe', 'AES-256-CBC']],
    ['3DES', legacy('PBE-SHA1-3DES')],
    ['3DES with two keys', legacy('PBE-SHA1-2DES')],
    ['RC2-128', legacy('PBE-SHA1-RC2-128')],
    [
      'OpenSSL 1, macOS, Java 8, older Windows',
      ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-RC2-40', '-macalg', 'SHA1'],
    ],
    ['3000 rounds', [...legacy('PBE-SHA1-3DES'), '-iter', '3000']],
    ['one round', ['-noiter', '-nomaciter']],
    ['no MAC', ['-nomac']],
    ['not encrypted', ['-keypbe', 'NONE', '-certpbe', 'NONE']],
  ])('is opened: %s', async (_, args) => {
    const taken = await open(workshop.makePfx('ec', PASSCODE, ...args));
    expect(taken).toMatchObject({ certificatePem: pem('ec'), warnings: [] });
  });

  it.each([[[]], [['-nomac']], [legacy('PBE-SHA1-RC2-40')]])(
    'is not opened with another passcode: %p',
    async (args) => {
      const bytes = workshop.makePfx('ec', 'пароль', ...args);
      expect(await rejectionOf(open(bytes, 'пароль2'))).toMatch(/^passcode: .*passcode of the PFX is wrong/);
    },
  );

  it.each(['', 'ąčęėįšųūž', 'pässwörd', 'Пароль', '密码 🔑', ' padded '])('is opened with "%s"', async (passcode) => {
    for (const args of [[], legacy('PBE-SHA1-RC2-40')]) {
      const bytes = workshop.makePfx('ec', passcode, ...args);
      expect(await open(bytes, passcode)).toMatchObject({ certificatePem: pem('ec') });
    }
  });

  it('is opened with AES whose key is from the Latin-1 bytes of the passcode, but not with another passcode', async () => {
    workshop.write('passcode', Buffer.from('pässwörd', 'latin1'));
    const from = ['-inkey', 'ec.key', '-in', 'ec.pem', '-passout', 'file:passcode', '-out', 'latin1.pfx'];
    workshop.openssl('pkcs12', '-export', ...from);
    const bytes = workshop.read('latin1.pfx');
    expect(await open(bytes, 'pässwörd')).toMatchObject({ certificatePem: pem('ec') });
    expect(await rejectionOf(open(bytes, 'passworð'))).toMatch(/^passcode: /);
  });

  it('is opened with a passcode that OpenSSL before 1.1.0 encoded byte by byte', async () => {
    const bytewise = Buffer.from('pässwörd').toString('latin1');
    const bytes = workshop.makePfx('ec', bytewise, ...legacy('PBE-SHA1-3DES'));
    expect(await open(bytes, 'pässwörd')).toMatchObject({ certificatePem: pem('ec') });
  });

  it.each(['', `${PASSCODE}\r\n`, `"${PASSCODE}"`, `\ufeff${PASSCODE}`])(
    'is rejected with the passcode %j',
    async (wrong) => {
      const rejection = await rejectionOf(open(workshop.makePfx('ec', PASSCODE), wrong));
      expect(rejection).toMatch(/^passcode: .*wrong or missing, or the file is damaged\. Check BANK_PFX_PASSCODE/);
    },
  );

  it.each([
    [`${PASSCODE}\r\n`, 'begins or ends with a space or an invisible character'],
    [`"${PASSCODE}"`, 'begins and ends with a quote'],
  ])(
    'is rejected with the passcode %j, and what is odd about it is named, also after a reload',
    async (wrong, oddity) => {
      const secret = { file: null, read: () => wrong };
      const BANK_PFX_FILE = workshop.write('odd.pfx', workshop.makePfx('ec', PASSCODE));
      const settings = { BANK_PFX_FILE, BANK_PFX_PASSCODE: secret, BANK_USERNAME: secret, BANK_PASSWORD: secret };
      const reading = readIdentityMaterial(settings as Partial<Settings> as Settings, NOW);
      const rejection = await rejectionOf(reading.then(({ certificate }) => certificate));
      expect(rejection).toMatch(/^passcode: .*or the file is damaged\. The one given .* Check BANK_PFX_PASSCODE/);
      expect(rejection).toContain(oddity);
    },
  );

  it('is rejected with RC4, and the command in the message converts it', async () => {
    workshop.makePfx('ec', PASSCODE, ...legacy('PBE-SHA1-RC4-128'), '-out', 'old.pfx');
    const rejection = await rejectionOf(open(workshop.read('old.pfx')));
    expect(rejection).toMatch(/^unknown-algorithm: .*BANK_CERT_FILE/);
    expect(rejection).toContain(EXPORT_AGAIN);
    const command = EXPORT_AGAIN.replace('-nodes', '-nodes -passin env:P').replace('-export', '-export -passout env:P');
    workshop.run('sh', ['-c', command], { P: PASSCODE });
    expect(await open(workshop.read('new.pfx'))).toMatchObject({ certificatePem: pem('ec') });
  });

  it.each([['PBE-MD5-DES'], ['PBE-SHA1-DES'], ['PBE-SHA1-RC2-64']])(
    'with the cipher %s is rejected, and the message has its name and the command that converts it',
    async (cipher) => {
      const rejection = await rejectionOf(open(workshop.makePfx('ec', PASSCODE, ...legacy(cipher))));
      const name = cipher === 'PBE-SHA1-RC2-64' ? 'PBE-SHA1-RC2' : cipher;
      expect(rejection).toContain(`the cipher ${name}`);
      expect(rejection).toContain(EXPORT_AGAIN);
    },
  );

  it('is rejected without key, or without certificate', async () => {
    const args = ['pkcs12', '-export', '-passout', `pass:${PASSCODE}`, '-out', 'x.pfx'];
    workshop.openssl(...args, '-nokeys', '-in', 'ec.pem');
    expect(await rejectionOf(open(workshop.read('x.pfx')))).toMatch(/^no-key: /);
    workshop.openssl(...args, '-nocerts', '-inkey', 'ec.key', '-in', 'ec.pem');
    expect(await rejectionOf(open(workshop.read('x.pfx')))).toMatch(/^no-certificate: /);
  });
});

(hasOpenssl() ? describe : describe.skip)('a PFX as other programs write it', () => {
  it('is opened in BER with trailing bytes (Windows, NSS, Bouncy Castle), as by OpenSSL', async () => {
    const bytes = toBer(workshop.makePfx('ec', PASSCODE));
    expect(await open(Buffer.concat([bytes, Buffer.alloc(3)]))).toMatchObject({ certificatePem: pem('ec') });
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
  });

  it('is opened with PBMAC1 (RFC 9579), as by OpenSSL', async () => {
    const bytes = pfxOf('ec');
    expect(await open(bytes)).toMatchObject({ certificatePem: pem('ec') });
    expect(() => createSecureContext({ pfx: bytes, passphrase: PASSCODE })).not.toThrow();
    expect(await rejectionOf(open(bytes, 'wrong'))).toMatch(/^passcode: /);
  });

  it('is rejected with a weak MAC, too many iterations, or two passcodes', async () => {
    workshop.openssl('pkcs8', '-topk8', '-in', 'ec.key', '-outform', 'DER', '-out', 'ec.p8', '-passout', 'pass:inner');
    expect(await rejectionOf(open(pbmac1Pfx([], PASSCODE, { keyLength: 19 })))).toMatch(/^damaged: /);
    expect(await rejectionOf(open(pbmac1Pfx([], PASSCODE, { rounds: 2 ** 46 })))).toMatch(/^damaged: /);
    expect(await rejectionOf(open(pbmac1Pfx([bag('2', workshop.read('ec.p8'))], PASSCODE)))).toMatch(/^passcode: /);
  });

  // Java 8 encrypts as OpenSSL 1 does
  (hasKeytool() ? it : it.skip)('is opened if keytool wrote it', async () => {
    const identity = ['-alias', 'client', '-keyalg', 'EC', '-dname', 'CN=client', '-storepass', PASSCODE];
    const file = ['-storetype', 'PKCS12', '-keystore', 'keytool.p12'];
    workshop.run(pathOf('keytool'), ['-genkeypair', ...identity, ...file, '-J-XX:TieredStopAtLevel=1']);
    const { subject, warnings } = await open(workshop.read('keytool.p12'));
    expect([subject, warnings]).toEqual(['CN=client', []]);
  });
});

(hasOpenssl() ? describe : describe.skip)('the client certificate', () => {
  const withAuthorities = (name: string, ...authorities: string[]): Buffer => {
    workshop.write('chain.pem', authorities.map(pem).join(''));
    return workshop.makePfx(name, PASSCODE, '-certfile', 'chain.pem');
  };

  it('has its names, thumbprints and dates, and TLS accepts it', async () => {
    const taken = await open(withAuthorities('ec', 'root'));
    const real = new X509Certificate(workshop.read('ec.pem'));
    const shown = workshop.openssl('x509', '-in', 'ec.pem', '-noout', '-fingerprint').toString();
    expect(taken).toMatchObject({
      subject: 'CN=ec, O=Company, C=LT',
      issuer: 'CN=root, O=Test',
      thumbprint: shown.replace(/.*=|:|\s/g, ''),
      thumbprintSha256: real.fingerprint256.replaceAll(':', ''),
      notBefore: new Date(real.validFrom),
      notAfter: new Date(real.validTo),
      chainPem: [],
      warnings: [],
    });
    expect(() => createSecureContext({ key: taken.keyPem, cert: taken.certificatePem })).not.toThrow();
  });

  it('has its chain in order, whatever the order in the file, without the root', async () => {
    const { chainPem, warnings } = await open(withAuthorities('rsa', 'root', 'middle', 'weak', 'lower'));
    expect([chainPem, warnings]).toEqual([[pem('lower'), pem('middle')], []]);
  });

  it('has a warning when the intermediate is missing, even a trusted one', async () => {
    const { chainPem, warnings } = await open(withAuthorities('rsa', 'root', 'middle'));
    expect([chainPem, warnings]).toEqual([[], [expect.stringMatching(/^The chain is incomplete: .*CN=lower, O=Test/)]]);
    expect((await open(workshop.makePfx('rsa', PASSCODE), PASSCODE, { roots: ['lower', 'root'] })).warnings).toEqual([
      INCOMPLETE,
    ]);
  });

  it('is returned even if it is expired or not yet valid', async () => {
    const bytes = workshop.makePfx('ec', PASSCODE);
    const { notAfter } = await open(bytes, PASSCODE, { now: IN_A_YEAR });
    expect(notAfter.getTime()).toBeLessThan(IN_A_YEAR.getTime());
    expect((await open(bytes, PASSCODE, { now: new Date(0) })).warnings).toEqual([]);
  });

  it('is the one of several that allows client authentication, is valid, and expires last', async () => {
    expect((await open(pfxOf('server', 'ec'))).subject).toContain('CN=ec');
    expect((await open(pfxOf('server', 'ec'), PASSCODE, { now: IN_A_YEAR })).subject).toContain('CN=ec');
    expect((await open(pfxOf('ec', 'any', 'server'))).subject).toContain('CN=any');
  });

  it('has a warning when it does not allow client authentication', async () => {
    const { warnings } = await open(workshop.makePfx('server', PASSCODE));
    expect(warnings).toEqual([expect.stringContaining('does not allow client authentication')]);
    expect((await open(workshop.makePfx('any', PASSCODE))).warnings).toEqual([]);
  });

  it('is rejected if OpenSSL rejects it for TLS', async () => {
    expect(await rejectionOf(open(workshop.makePfx('small', PASSCODE)))).toMatch(/^refused-by-tls: .*ee key too small/);
  });
});

(hasOpenssl() ? describe : describe.skip)('PEM files', () => {
  const chainFile = () => Buffer.concat(['rsa', 'lower', 'middle'].map((name) => workshop.read(`${name}.pem`)));

  it.each([
    ['PKCS#8', ['pkcs8', '-topk8']],
    ['PKCS#1', ['rsa', '-traditional', '-aes256']],
  ])('with an encrypted RSA key as %s become the client certificate', async (_, command) => {
    const key = workshop.openssl(...command, '-passout', 'pass:secret', '-in', 'rsa.key');
    const taken = await openPem(chainFile(), key, 'secret');
    expect(taken).toMatchObject({ certificatePem: pem('rsa'), chainPem: [pem('lower'), pem('middle')], warnings: [] });
  });

  it('that do not match are rejected with a reason', async () => {
    const [chain, key] = [chainFile(), workshop.read('rsa.key')];
    const encrypted = workshop.openssl('pkcs8', '-topk8', '-in', 'rsa.key', '-passout', 'pass:secret');
    const cases: [Buffer, Buffer, string, RegExp][] = [
      [chain, workshop.read('ec.key'), '', /^key-mismatch: /],
      [chain, encrypted, '', /^passcode: .*Check BANK_KEY_PASSPHRASE or BANK_KEY_PASSPHRASE_FILE/],
      [chain, encrypted, 'wrong', /^passcode: .*wrong\. Check BANK_KEY_PASSPHRASE/],
      [key, key, '', /^no-certificate: /],
      [chain, chain, '', /^no-key: /],
    ];
    for (const [a, b, passphrase, rejection] of cases)
      expect(await rejectionOf(openPem(a, b, passphrase))).toMatch(rejection);
  });
});
