import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasOpenssl } from '../../test/support/tools.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { toClientCertificate } from './client-certificate.js';
import { readPem } from './read-pem.js';
import { Workshop } from '../../test/support/pfx-workshop.js';

const NOW = new Date(Date.now() + 60_000);

(hasOpenssl() ? describe : describe.skip)('PEM files that openssl wrote', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeIntermediate('middle', 'root');
    workshop.makeLeaf('client', { issuer: 'middle', key: 'RSA -pkeyopt rsa_keygen_bits:2048' });
    workshop.makeLeaf('other');
    workshop.write('chain.pem', Buffer.concat([workshop.read('client.pem'), workshop.read('middle.pem')]));
  });
  afterAll(() => workshop[Symbol.dispose]());

  const take = (chain: Buffer, key: Buffer, passphrase = '') =>
    toClientCertificate(readPem(chain, key, passphrase), NOW, [workshop.read('root.pem').toString()]);
  const refusalOf = (chain: Buffer, key: Buffer, passphrase = ''): string => {
    try {
      take(chain, key, passphrase);
    } catch (error) {
      if (error instanceof CertificateUnreadable) return `${error.reason}: ${error.message}`;
      throw error;
    }
    throw new Error('the files were read');
  };

  it.each<[string, string[], string]>([
    ['PKCS#8', ['pkey'], ''],
    ['PKCS#1', ['rsa', '-traditional'], ''],
    ['encrypted PKCS#8', ['pkcs8', '-topk8', '-passout', 'pass:secret'], 'secret'],
    ['encrypted PKCS#1', ['rsa', '-traditional', '-aes256', '-passout', 'pass:secret'], 'secret'],
  ])('chain and a key as %s become the client certificate', (_, command, passphrase) => {
    const key = workshop.openssl(...command, '-in', 'client.key');
    const taken = take(workshop.read('chain.pem'), key, passphrase);
    expect(taken).toMatchObject({ subject: 'CN=client, O=Company, C=LT', warnings: [] });
    expect(taken.chainPem).toEqual([new X509Certificate(workshop.read('middle.pem')).toString()]);
    expect(() => createSecureContext({ key: taken.keyPem, cert: taken.certificatePem })).not.toThrow();
  });

  it('with text between the blocks and without the intermediate are read with a warning', () => {
    const chain = workshop.openssl('x509', '-in', 'client.pem', '-text');
    expect(take(chain, workshop.read('client.key')).warnings).toEqual([
      expect.stringContaining('The chain is incomplete'),
    ]);
  });

  it('that do not fit are refused with the variable to correct', () => {
    const [chain, key] = [workshop.read('chain.pem'), workshop.read('client.key')];
    const encrypted = workshop.openssl('pkcs8', '-topk8', '-in', 'client.key', '-passout', 'pass:secret');
    expect(refusalOf(chain, workshop.read('other.key'))).toMatch(/^key-mismatch: /);
    expect(refusalOf(chain, encrypted)).toMatch(/^passcode: .*Set BANK_KEY_PASSPHRASE/);
    expect(refusalOf(chain, encrypted, 'wrong')).toMatch(/^passcode: .*Check BANK_KEY_PASSPHRASE/);
    expect(refusalOf(key, key)).toMatch(/^no-certificate: BANK_CERT_FILE/);
    expect(refusalOf(chain, chain)).toMatch(/^no-key: BANK_KEY_FILE/);
    expect(refusalOf(chain, Buffer.from(key.toString().replace(/\n.{20}/, '\n')))).toMatch(/^damaged: .*BANK_KEY_FILE/);
    expect(refusalOf(Buffer.from(chain.toString().replace(/\n.{20}/, '\n')), key)).toMatch(/^damaged: Certificate 1/);
  });
});
