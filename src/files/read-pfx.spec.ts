import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toBer } from '../../test/support/der.js';
import { Workshop } from '../../test/support/pfx-workshop.js';
import { hasOpenssl } from '../../test/support/tools.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { readPfx } from './read-pfx.js';

const PASSCODE = 'correct horse';

/**
 * 'read', or reason and message. Fails the test on any other error, and on a message that is not a single clean line.
 */
async function outcomeOf(bytes: Buffer): Promise<string> {
  try {
    await readPfx(bytes, PASSCODE);
    return 'read';
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    expect(error.message).toMatch(/^[\x20-\x7e]{20,600}$/);
    expect(error.message).not.toContain(PASSCODE);
    return `${error.reason}: ${error.message}`;
  }
}

it('noise is rejected', async () => {
  expect(await outcomeOf(Buffer.from('c0ffee00c0ffee', 'hex'))).toMatch(/^damaged: /);
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

  it('a PFX that is cut off at any length is rejected', async () => {
    expect(await outcomeOf(good)).toBe('read');
    for (let length = 0; length < good.length; length++)
      expect(await outcomeOf(good.subarray(0, length))).toMatch(/^damaged/);
    for (const file of files)
      for (let length = 0; length < file.length; length += 3) await outcomeOf(file.subarray(0, length));
  });

  it('a PFX with random damage is rejected or read, without any other error', async () => {
    for (const file of files) {
      for (let at = 0; at < file.length; at += 3) {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ (1 + ((at * 37) % 255));
        await outcomeOf(changed);
      }
    }
    const change = fc.record({ at: fc.nat(2000), value: fc.nat(255) });
    const damage = fc.record({ file: fc.nat(2), changes: fc.array(change, { minLength: 1, maxLength: 4 }) });
    await fc.assert(
      fc.asyncProperty(damage, async ({ file, changes }) => {
        const bytes = Buffer.from(files[file] ?? Buffer.alloc(0));
        for (const { at, value } of changes) bytes[at % bytes.length] = value;
        await outcomeOf(bytes);
      }),
      { numRuns: 300 },
    );
    const noise = fc.uint8Array({ maxLength: 300 });
    await fc.assert(fc.asyncProperty(noise, async (bytes) => (await outcomeOf(Buffer.from(bytes))) !== 'read'));
  });

  it('a very deep or wide structure is rejected', async () => {
    for (const header of ['3080020103', '30830f4243020103']) {
      for (const content of ['3080', '3000', '0500']) {
        const bytes = Buffer.concat([Buffer.from(header, 'hex'), Buffer.alloc(1_000_000, content, 'hex')]);
        expect(await outcomeOf(bytes)).toMatch(/^damaged/);
      }
    }
  });
});
