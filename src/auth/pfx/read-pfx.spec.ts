import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toBer } from '../../../test/support/der.js';
import { Workshop } from '../../../test/support/pfx-workshop.js';
import { hasOpenssl } from '../../../test/support/tools.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readPfx } from './read-pfx.js';

const PASSCODE = 'correct horse';

/** 'read', or reason and message. Fails the test on any other error, and on a message that is not one clean line. */
function outcomeOf(bytes: Buffer): string {
  try {
    readPfx(bytes, PASSCODE);
    return 'read';
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    expect(error.message).toMatch(/^[\x20-\x7e]{20,600}$/);
    expect(error.message).not.toContain(PASSCODE);
    return `${error.reason}: ${error.message}`;
  }
}

it.each<[string, Buffer]>([
  ['a page', Buffer.from('<!DOCTYPE html><html><title>Prisijungti ąč</title>')],
  ['noise', Buffer.from('c0ffee00c0ffee', 'hex')],
])('%s is rejected, and the message names the setting to use instead', (_what, bytes) => {
  expect(outcomeOf(bytes)).toMatch(/^damaged: The file is not a PFX.*BANK_CERT_FILE.*BANK_PFX_BASE64/);
});

it('an empty file is rejected as such', () => {
  expect(outcomeOf(Buffer.alloc(0))).toBe('damaged: The PFX is empty. Copy the file again.');
});

(hasOpenssl() ? describe : describe.skip)('with files of openssl', () => {
  let files: Buffer[];
  let good: Buffer;
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('leaf');
    const plain = ['-keypbe', 'NONE', '-certpbe', 'NONE', '-nomac'];
    workshop.write('good.pfx', workshop.makePfx('leaf', PASSCODE, '-noiter', '-nomaciter'));
    good = workshop.read('good.pfx');
    files = [good, toBer(good), workshop.makePfx('leaf', PASSCODE, ...plain)];
  });

  it.each<[string, (from: Workshop) => Buffer]>([
    ['base64 text', (from) => from.openssl('base64', '-in', 'good.pfx')],
    ['PEM text', (from) => from.read('leaf.pem')],
    ['a certificate without its key', (from) => from.openssl('x509', '-in', 'leaf.pem', '-outform', 'DER')],
  ])('%s in place of a PFX is rejected', (_what, make) => {
    expect(outcomeOf(make(workshop))).toMatch(/^damaged: The file is not a PFX/);
  });

  it('a PFX is rejected when cut off at any length', () => {
    expect(outcomeOf(good)).toBe('read');
    for (let length = 0; length < good.length; length++)
      expect(outcomeOf(good.subarray(0, length))).toMatch(/^damaged/);
    for (const file of files)
      for (let length = 0; length < file.length; length += 3) outcomeOf(file.subarray(0, length));
  });

  it('a PFX with random damage is rejected or read, without any other error', () => {
    for (const file of files) {
      for (let at = 0; at < file.length; at += 3) {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ (1 + ((at * 37) % 255));
        outcomeOf(changed);
      }
    }
    const change = fc.record({ at: fc.nat(2000), value: fc.nat(255) });
    const damage = fc.record({ file: fc.nat(2), changes: fc.array(change, { minLength: 1, maxLength: 4 }) });
    fc.assert(
      fc.property(damage, ({ file, changes }) => {
        const bytes = Buffer.from(files[file] ?? Buffer.alloc(0));
        for (const { at, value } of changes) bytes[at % bytes.length] = value;
        outcomeOf(bytes);
      }),
      { numRuns: 300 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => outcomeOf(Buffer.from(noise)) !== 'read'));
  });

  it('a very deep or wide structure is rejected', () => {
    const header = Buffer.from('3080020103', 'hex');
    expect(outcomeOf(Buffer.concat([header, Buffer.alloc(1_000_000, '3080', 'hex')]))).toMatch(/^damaged/);
    expect(outcomeOf(Buffer.concat([header, Buffer.alloc(1_000_000, '0500', 'hex')]))).toMatch(/^damaged/);
  });
});
