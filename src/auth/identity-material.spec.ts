import { describe, expect, it } from '@jest/globals';
import { FileUnusable } from '../config/small-file.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';
import { mayPass } from './identity-material.js';

/** As node:fs throws it. */
const systemError = (code: string) => Object.assign(new Error(`${code}: open`), { code, errno: -1, syscall: 'open' });

describe('a failed reading may pass', () => {
  it.each(['EMFILE', 'ENFILE', 'EIO', 'ESTALE', 'EACCES', 'EAGAIN'])('when the system could not read (%s)', (code) => {
    const unusable = new FileUnusable('/run/client.pfx', 'cannot be read', { cause: systemError(code) });
    expect(mayPass(unusable)).toBe(true);
    expect(
      mayPass(new CertificateUnreadable('file', 'BANK_PFX_FILE names it.', 'Correct it.', { cause: unusable })),
    ).toBe(true);
  });

  it('when something unforeseen happened', () => {
    expect(mayPass(new TypeError('boom'))).toBe(true);
  });

  it.each([
    new FileUnusable('/run/client.pfx', 'is empty'),
    new FileUnusable('/run/ca.pem', 'has a PEM certificate that cannot be parsed', {
      cause: new Error('bad base64'),
    }),
    new CertificateUnreadable('passcode', 'The passcode is wrong.', 'Set it.'),
    new CertificateUnreadable('damaged', 'The PFX is damaged.', 'Copy it.', { cause: new Error('not ASN.1') }),
  ])('but not when the content is bad: %s', (error) => {
    expect(mayPass(error)).toBe(false);
  });
});
