import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasOpenssl } from '../../test/support/tools.js';
import { type ClientCertificate, toClientCertificate } from './client-certificate.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readPfx } from './read-pfx.js';

// a little later, since certificates are made on the spot and begin to be valid then
const NOW = new Date(Date.now() + 60_000);
const IN_A_YEAR = new Date(NOW.getTime() + 365 * 86_400_000);

(hasOpenssl() ? describe : describe.skip)('the client certificate out of a PFX', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeIntermediate('middle', 'root');
    workshop.makeIntermediate('lower', 'middle');
    workshop.makeIntermediate('weak', 'root', 'RSA -pkeyopt rsa_keygen_bits:1024');
    workshop.makeLeaf('client', { issuer: 'lower' });
    workshop.makeLeaf('short', { days: 20 });
    workshop.makeLeaf('rsa', { key: 'RSA -pkeyopt rsa_keygen_bits:2048' });
    workshop.makeLeaf('server', { eku: 'serverAuth' });
    workshop.makeLeaf('any', { eku: '', days: 100 });
    workshop.makeLeaf('weakly', { issuer: 'weak' });
    workshop.makeLeaf('small', { key: 'RSA -pkeyopt rsa_keygen_bits:1024' });
  });
  afterAll(() => workshop[Symbol.dispose]());

  const take = (bytes: Buffer, now = NOW, roots: string[] = []): ClientCertificate =>
    toClientCertificate(readPfx(bytes, 'p'), now, roots);
  const refuse = (bytes: Buffer): unknown => {
    try {
      return take(bytes).subject;
    } catch (error) {
      return error instanceof CertificateUnreadable ? error.reason : error;
    }
  };
  /** The contents of several PFX files as if they were one. */
  const takeAll = (names: string[], now = NOW): ClientCertificate => {
    const all = names.map((name) => readPfx(workshop.makePfx(name, 'p', '-certfile', 'root.pem'), 'p'));
    const [first] = all;
    if (first === undefined) throw new Error('none');
    const contents = {
      ...first,
      keys: all.flatMap(({ keys }) => keys),
      certificates: all.flatMap(({ certificates }) => certificates),
    };
    return toClientCertificate(contents, now, []);
  };
  const pem = (name: string): string => new X509Certificate(workshop.read(`${name}.pem`)).toString();
  const withAuthorities = (name: string, ...authorities: string[]): Buffer => {
    workshop.write('chain.pem', authorities.map(pem).join(''));
    return workshop.makePfx(name, 'p', '-certfile', 'chain.pem');
  };

  it('has its names, thumbprints and dates, and TLS takes it', () => {
    const taken = take(withAuthorities('short', 'root'));
    const real = new X509Certificate(workshop.read('short.pem'));
    expect(taken).toMatchObject({
      subject: 'CN=short, O=Company, C=LT',
      issuer: 'CN=root, O=Test',
      thumbprint: workshop
        .openssl('x509', '-in', 'short.pem', '-noout', '-fingerprint')
        .toString()
        .replace(/.*=|:|\s/g, ''),
      thumbprintSha256: real.fingerprint256.replaceAll(':', ''),
      notBefore: new Date(real.validFrom),
      notAfter: new Date(real.validTo),
      certificatePem: real.toString(),
      chainPem: [],
      warnings: [],
    });
    expect(() => createSecureContext({ key: taken.keyPem, cert: taken.certificatePem })).not.toThrow();
  });

  it('has its chain in order whatever the order in the file, without the root', () => {
    const taken = take(withAuthorities('client', 'root', 'middle', 'weak', 'lower'));
    expect(taken.chainPem).toEqual([pem('lower'), pem('middle')]);
    expect(taken.warnings).toEqual([]);
  });

  it('comes with a warning when the intermediate is missing', () => {
    const taken = take(withAuthorities('client', 'root', 'middle'));
    expect(taken.chainPem).toEqual([]);
    expect(taken.warnings).toEqual([expect.stringMatching(/^The chain is incomplete: .*CN=lower, O=Test/)]);
  });

  it('comes without a warning when a trusted root issued it, and with one when another did', () => {
    const alone = workshop.makePfx('short', 'p');
    expect(take(alone, NOW, [pem('root')]).warnings).toEqual([]);
    expect(take(alone, NOW, [pem('middle'), pem('weak')]).warnings).toEqual([
      expect.stringContaining('The chain is incomplete'),
    ]);
    // an intermediate among the trusted ones has to be sent all the same
    expect(take(workshop.makePfx('client', 'p'), NOW, [pem('lower'), pem('root')]).warnings).toEqual([
      expect.stringContaining('The chain is incomplete'),
    ]);
  });

  it('is given even when it is expired or not yet valid', () => {
    const bytes = withAuthorities('short', 'root');
    expect(take(bytes, IN_A_YEAR).notAfter.getTime()).toBeLessThan(IN_A_YEAR.getTime());
    expect(take(bytes, new Date(0)).warnings).toEqual([]);
  });

  it('is the one for client authentication and not expired, named among several', () => {
    expect(takeAll(['server', 'short']).subject).toContain('CN=short');
    expect(takeAll(['server', 'short'], IN_A_YEAR).subject).toContain('CN=short');
    expect(takeAll(['short', 'any']).subject).toContain('CN=any');
    const taken = takeAll(['any', 'server', 'short']);
    expect(taken.warnings).toEqual([
      `The file has 3 certificates with a key. The gateway uses CN=any, O=Company, C=LT (thumbprint ${taken.thumbprint}, valid until ${taken.notAfter.toISOString()}).`,
    ]);
    expect(() => createSecureContext({ key: taken.keyPem, cert: taken.certificatePem })).not.toThrow();
  });

  it('comes with a warning when it does not allow client authentication', () => {
    expect(take(withAuthorities('server', 'root')).warnings).toEqual([
      expect.stringContaining('does not allow client authentication'),
    ]);
    expect(take(withAuthorities('any', 'root')).warnings).toEqual([]);
  });

  it('comes with a warning and the commands when the file is outdated', () => {
    const bytes = workshop.makePfx(
      'short',
      'p',
      '-certfile',
      'root.pem',
      '-keypbe',
      'PBE-SHA1-3DES',
      '-certpbe',
      'PBE-SHA1-RC2-40',
    );
    expect(take(bytes).warnings).toEqual([
      expect.stringMatching(
        /^The PFX is encrypted with PBE-SHA1-RC2-40 and PBE-SHA1-3DES, .*openssl pkcs12 -legacy -in old.pfx .*Export-PfxCertificate/,
      ),
    ]);
  });

  it('is refused without key, without certificate, and with a key of another', () => {
    const args = ['pkcs12', '-export', '-passout', 'pass:p', '-out', 'x.pfx'];
    workshop.openssl(...args, '-nokeys', '-in', 'client.pem');
    expect(refuse(workshop.read('x.pfx'))).toBe('no-key');
    workshop.openssl(...args, '-nocerts', '-inkey', 'client.key', '-in', 'client.pem');
    expect(refuse(workshop.read('x.pfx'))).toBe('no-certificate');
    const contents = readPfx(workshop.makePfx('client', 'p'), 'p');
    const { keys } = readPfx(workshop.makePfx('short', 'p'), 'p');
    expect(() => toClientCertificate({ ...contents, keys }, NOW, [])).toThrow(
      expect.objectContaining({ reason: 'key-mismatch' }),
    );
  });

  it('is refused when TLS would not take it', () => {
    expect(() => take(withAuthorities('small', 'root'))).toThrow(/ee key too small/);
    expect(refuse(withAuthorities('small', 'root'))).toBe('refused-by-tls');
  });

  it('is used without intermediates that TLS would not take, with a warning', () => {
    const taken = take(withAuthorities('weakly', 'weak', 'root'));
    expect(taken.chainPem).toEqual([]);
    expect(taken.warnings).toEqual([
      expect.stringMatching(/does not send the intermediates because OpenSSL refuses them \(.*ca key too small\)/),
    ]);
  });
});
