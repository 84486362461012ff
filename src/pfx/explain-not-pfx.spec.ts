import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasOpenssl } from '../../test/support/tools.js';
import { explainNotPfx } from './explain-not-pfx.js';
import { Workshop } from '../../test/support/pfx-workshop.js';

const messageFor = (bytes: Buffer): string => explainNotPfx(bytes)?.message ?? 'a PFX';

describe('a file that is not a PFX is named', () => {
  it.each<[string, Buffer]>([
    ['empty', Buffer.alloc(0)],
    ['of an unknown kind', Buffer.from(' \n')],
    ['an HTML page', Buffer.from('<!DOCTYPE html><html><title>Prisijungti ąč</title>')],
    ['of an unknown kind', Buffer.from('{"error":"not found"}')],
    ['a ZIP archive', Buffer.from('504b030414000000', 'hex')],
    ['saved as text', Buffer.from(Buffer.from('308203e5020103', 'hex').toString('utf8'))],
    ['of an unknown kind', Buffer.from('c0ffee00c0ffee', 'hex')],
    ['of an unknown kind', Buffer.from('30030101ff', 'hex')],
  ])('%s', (what, bytes) => {
    expect(messageFor(bytes)).toContain(what);
    expect(messageFor(bytes)).not.toContain('\n');
  });
});

(hasOpenssl() ? describe : describe.skip)('a file that openssl wrote is named with what to do', () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('leaf');
    workshop.makePfx('leaf', '');
  });
  afterAll(() => workshop[Symbol.dispose]());

  it.each<[string, string, (from: Workshop) => Buffer]>([
    ['a PFX as base64 text', 'BANK_PFX_BASE64', (from) => from.openssl('base64', '-in', 'made.pfx')],
    ['a PFX as base64 text', 'BANK_PFX_BASE64', (from) => from.openssl('base64', '-A', '-in', 'made.pfx')],
    [
      'a PFX as base64 text',
      'BANK_PFX_BASE64',
      (from) => Buffer.from(`\ufeff${from.openssl('base64', '-in', 'made.pfx').toString()}`, 'utf16le'),
    ],
    ['PEM text', 'BANK_CERT_FILE', (from) => from.read('leaf.pem')],
    ['PEM text', 'BANK_KEY_FILE', (from) => from.read('leaf.key')],
    [
      'a certificate without its private key',
      'openssl pkcs12 -export',
      (from) => from.openssl('x509', '-in', 'leaf.pem', '-outform', 'DER'),
    ],
  ])('%s: %s', (what, remedy, make) => {
    expect(messageFor(make(workshop))).toContain(what);
    expect(messageFor(make(workshop))).toContain(remedy);
  });

  it('a PFX that is cut off has its number of bytes; a whole one has no message', () => {
    const whole = workshop.read('made.pfx');
    expect(messageFor(whole)).toBe('a PFX');
    expect(messageFor(whole.subarray(0, 500))).toBe(
      `The PFX is cut off: it should have ${whole.length} bytes, and has 500. Copy it again in binary mode.`,
    );
  });
});
