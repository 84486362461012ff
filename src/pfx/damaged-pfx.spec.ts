import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hasOpenssl } from '../../test/support/tools.js';
import { toClientCertificate } from './client-certificate.js';
import { toBer } from '../../test/support/der.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readPfx } from './read-pfx.js';

const PASSCODE = 'correct horse';

/** 'read', or the reason; fails the test on any other error and on a message that is not one clean line. */
function outcomeOf(bytes: Buffer): string {
  try {
    toClientCertificate(readPfx(bytes, PASSCODE), new Date(), []);
    return 'read';
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    expect(error.message).toMatch(/^[\x20-\x7e]{20,600}$/);
    expect(error.message).not.toContain(PASSCODE);
    return error.reason;
  }
}

(hasOpenssl() ? describe : describe.skip)('a damaged PFX', () => {
  let files: Buffer[];
  let workshop: Workshop;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('leaf');
    const plain = ['-keypbe', 'NONE', '-certpbe', 'NONE', '-nomac'];
    const good = workshop.makePfx('leaf', PASSCODE, '-noiter', '-nomaciter');
    files = [
      good,
      toBer(good),
      workshop.makePfx('leaf', PASSCODE, ...plain),
      workshop.makePfx('leaf', PASSCODE, '-nomac', '-noiter'),
    ];
  });
  afterAll(() => workshop[Symbol.dispose]());

  it('gives CertificateUnreadable at every length', () => {
    const [good = Buffer.alloc(0)] = files;
    expect(outcomeOf(good)).toBe('read');
    for (let length = 20; length < good.length; length++) expect(outcomeOf(good.subarray(0, length))).toBe('cut-off');
    for (const file of files)
      for (let length = 0; length < file.length; length += 3) outcomeOf(file.subarray(0, length));
  });

  it('gives CertificateUnreadable or is read, whichever byte is changed', () => {
    for (const file of files) {
      for (let at = 0; at < file.length; at++) {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ (1 + ((at * 37) % 255));
        outcomeOf(changed);
      }
    }
  });

  it('gives CertificateUnreadable or is read, whatever else happens to it', () => {
    const change = fc.record({ at: fc.nat(2000), value: fc.nat(255) });
    const damage = fc.record({ file: fc.nat(3), changes: fc.array(change, { minLength: 1, maxLength: 4 }) });
    fc.assert(
      fc.property(damage, ({ file, changes }) => {
        const bytes = Buffer.from(files[file] ?? Buffer.alloc(0));
        for (const { at, value } of changes) bytes[at % bytes.length] = value;
        outcomeOf(bytes);
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => outcomeOf(Buffer.from(noise)) !== 'read'));
  });

  it('is refused, however deep or wide it is', () => {
    const header = Buffer.from('3080020103', 'hex');
    expect(outcomeOf(Buffer.concat([header, Buffer.alloc(1_000_000, '3080', 'hex')]))).toBe('damaged');
    expect(outcomeOf(Buffer.concat([header, Buffer.alloc(1_000_000, '0500', 'hex')]))).toBe('damaged');
    expect(outcomeOf(Buffer.concat([Buffer.from('3083fffffa020103', 'hex'), Buffer.alloc(1_000_000)]))).toBe('cut-off');
  });
});
