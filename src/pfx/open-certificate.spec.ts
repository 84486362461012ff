import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasOpenssl } from '../../test/support/tools.js';
import { toClientCertificate } from './client-certificate.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { openCertificate, type CertificateRequest } from './open-certificate.js';
import { readPfx } from './read-pfx.js';
import { Workshop } from '../../test/support/pfx-workshop.js';

const NOW = new Date(Date.now() + 60_000);

const pfx = (bytes: Uint8Array, passcode = 'p') => ({ kind: 'pfx' as const, bytes, passcode });

(hasOpenssl() ? describe : describe.skip)('a PFX is opened in a thread of its own', () => {
  let workshop: Workshop;
  let request: CertificateRequest;
  let slow: Uint8Array;
  beforeAll(() => {
    workshop = new Workshop();
    workshop.makeRoot('root');
    workshop.makeLeaf('leaf');
    workshop.write('leaf.pfx', workshop.makePfx('leaf', 'p'));
    request = { source: pfx(workshop.read('leaf.pfx')), roots: [], now: NOW };
    const old = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'NONE', '-macalg', 'SHA1', '-iter', '400000'];
    slow = workshop.makePfx('leaf', 'p', ...old);
  });
  afterAll(() => workshop[Symbol.dispose]());

  it('and gives what reading it here would give', async () => {
    const here = toClientCertificate(readPfx(workshop.read('leaf.pfx'), 'p'), NOW, []);
    expect(await openCertificate(request)).toEqual(here);
    expect(here.warnings).toEqual([expect.stringContaining('The chain is incomplete')]);
  });

  it('knows the roots it is given, and by itself those of the runtime', async () => {
    const roots = [workshop.read('root.pem').toString()];
    expect((await openCertificate({ ...request, roots })).warnings).toEqual([]);
    expect((await openCertificate({ ...request, roots: null })).warnings).toEqual([
      expect.stringContaining('incomplete'),
    ]);
  });

  it('and is refused with the reason and the words of reading it here', async () => {
    const refusal = await openCertificate({ ...request, source: pfx(workshop.read('leaf.pfx'), 'wrong') }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(CertificateUnreadable);
    expect(refusal).toMatchObject({ reason: 'passcode', message: expect.stringContaining('Check BANK_PFX_PASSCODE;') });
  });

  it('others are served meanwhile', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await openCertificate({ ...request, source: pfx(slow) });
    clearInterval(counting);
    expect(turns).toBeGreaterThan(20);
  });

  it('and left when it is not wanted any more', async () => {
    const stop = new AbortController();
    const opening = openCertificate({ ...request, source: pfx(slow, 'wrong') }, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(opening).rejects.toThrow('stopped');
    await expect(openCertificate(request, stop.signal)).rejects.toThrow('stopped');
  });

  it.each(['3000', '0500', '3080'])('a megabyte of structure (%s) is refused, and does no harm', async (filling) => {
    const content = Buffer.alloc(1_000_000, filling, 'hex');
    const bytes = Buffer.concat([Buffer.from('30830f4243020103', 'hex'), content]);
    await expect(openCertificate({ ...request, source: pfx(bytes) })).rejects.toMatchObject({
      name: 'CertificateUnreadable',
      reason: 'damaged',
    });
  });
});
