import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasOpenssl } from '../../test/support/tools.js';
import { NAMES, Workshop } from './workshop.test-support.js';
import { identifyFile } from './identify-file.js';
import {
  DECODE_BASE64,
  DECODE_PEM,
  PFX_FROM_CER,
  PFX_FROM_DER_KEY,
  PFX_FROM_ONE_PEM,
  PFX_FROM_P7B,
  PFX_FROM_PEM,
  PFX_FROM_PEM_P7B,
} from './remedy.js';

const said = (bytes: Buffer): string => identifyFile(bytes, NAMES)?.message ?? 'a PFX';

describe('a file that is no PFX is named', () => {
  it.each<[string, Buffer]>([
    ['empty', Buffer.alloc(0)],
    ['blank text', Buffer.from(' \n')],
    ['an HTML page', Buffer.from('<!DOCTYPE html><html><title>Prisijungti ąč</title>')],
    ['text', Buffer.from('{"error":"not found"}')],
    ['an SSH key', Buffer.from('PuTTY-User-Key-File-3: ssh-rsa')],
    ['a ZIP archive', Buffer.from('504b030414000000', 'hex')],
    ['saved as text', Buffer.from(Buffer.from('308203e5020103', 'hex').toString('utf8'))],
    ['nothing else we know', Buffer.from('c0ffee00c0ffee', 'hex')],
    ['of an unknown kind', Buffer.from('30030101ff', 'hex')],
  ])('%s', (what, bytes) => {
    expect(said(bytes)).toContain(what);
    expect(said(bytes)).not.toContain('\n');
  });
});

(hasOpenssl() ? describe : describe.skip)('a file next to a PFX is named, with the command that works', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('leaf');
    workshop.run('sh', [
      '-c',
      'cp leaf.key key.pem; cp leaf.pem certificate.pem; cp root.pem chain.pem; cat leaf.key leaf.pem > client.pem',
    ]);
    workshop.makePfx('leaf', '');
  });
  afterAll(() => workshop[Symbol.dispose]());

  /** Runs a recommended command, without a passcode, and gives the PFX that it makes. */
  function follow(command: string): string {
    const quiet = command.replace(/ \(on Windows.*/, '').replace('-export', '-export -passout pass:');
    workshop.run('sh', ['-c', `rm -f client.pfx; ${quiet}`]);
    return said(workshop.read('client.pfx'));
  }

  it.each<[string, string, (from: Workshop) => Buffer]>([
    ['base64 text of a PFX', DECODE_BASE64, (from) => from.openssl('base64', '-in', 'made.pfx')],
    ['base64 text of a PFX', DECODE_BASE64, (from) => from.openssl('base64', '-A', '-in', 'made.pfx')],
    [
      'base64 text of a PFX between BEGIN and END lines',
      DECODE_PEM,
      (from) =>
        Buffer.from(
          `-----BEGIN CERTIFICATE-----\n${from.openssl('base64', '-in', 'made.pfx').toString()}-----END CERTIFICATE-----\n`,
        ),
    ],
    ['a PEM with certificate and private key', PFX_FROM_ONE_PEM, (from) => from.read('client.pem')],
    ['a PEM with a certificate and no private key', PFX_FROM_PEM, (from) => from.read('leaf.pem')],
    ['a PEM with a private key and no certificate', PFX_FROM_PEM, (from) => from.read('leaf.key')],
    ['a PEM with a PKCS#7 bundle', PFX_FROM_PEM_P7B, (from) => bundle(from, 'PEM')],
    ['a PKCS#7 bundle of certificates', PFX_FROM_P7B, (from) => bundle(from, 'DER')],
    [
      'a certificate without its private key',
      PFX_FROM_CER,
      (from) => from.openssl('x509', '-in', 'leaf.pem', '-outform', 'DER'),
    ],
    ['a private key without', PFX_FROM_DER_KEY, (from) => from.openssl('pkey', '-in', 'leaf.key', '-outform', 'DER')],
    ['a private key without', PFX_FROM_DER_KEY, (from) => from.openssl('ec', '-in', 'leaf.key', '-outform', 'DER')],
  ])('%s', (what, command, make) => {
    const bytes = make(workshop);
    expect(said(bytes)).toContain(`The file is ${what}`);
    expect(said(bytes)).toContain(command);
    for (const name of ['old.txt', 'client.cer', 'client.p7b', 'key.der']) workshop.write(name, bytes);
    expect(follow(command)).toBe('a PFX');
  });

  it('a certificate request and an encrypted key', () => {
    expect(said(workshop.openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=x'))).toContain(
      'a PEM with a certificate request',
    );
    expect(said(workshop.openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=x', '-outform', 'DER'))).toContain(
      'a certificate request',
    );
    expect(
      said(workshop.openssl('pkcs8', '-topk8', '-in', 'leaf.key', '-outform', 'DER', '-passout', 'pass:x')),
    ).toContain('a private key');
  });

  it('UTF-16 text, with and without its mark, in either order', () => {
    const text = workshop.openssl('base64', '-in', 'made.pfx').toString();
    const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
    expect(said(marked)).toMatch(/UTF-16 text, .* holds base64 text of a PFX.*iconv -f UTF-16 /);
    expect(said(Buffer.from(marked).swap16())).toMatch(/holds base64 text of a PFX/);
    expect(said(Buffer.from(text, 'utf16le'))).toMatch(/UTF-16LE text.*iconv -f UTF-16LE /);
  });

  it('a PFX cut off, with the number of bytes; a whole one is none of these', () => {
    const whole = workshop.read('made.pfx');
    expect(said(whole)).toBe('a PFX');
    expect(said(whole.subarray(0, 500))).toBe(
      `The PFX is cut off: it announces ${whole.length} bytes and has 500. Copy it again, in binary mode.`,
    );
  });

  const bundle = (from: Workshop, form: string): Buffer =>
    from.openssl('crl2pkcs7', '-nocrl', '-certfile', 'leaf.pem', '-outform', form);
});
