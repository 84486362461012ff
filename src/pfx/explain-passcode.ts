import { CertificateUnreadable } from './certificate-unreadable.js';

/** 1.3.6.1.4.1.311.17.4: in such a bag Windows keeps the passcode that it made up for -ProtectTo. */
const WINDOWS_PROTECTED_PASSCODE = Buffer.from('06092b0601040182371104', 'hex');

/** Usual slips, and how a passcode looks after each. */
const SLIPS: readonly (readonly [looks: RegExp, slip: string])[] = [
  [/[\r\n]$/, 'ends with a line end'],
  [/^\ufeff/, 'starts with a byte order mark'],
  [/^\s|\s$/, 'starts or ends with a space'],
  [/^(["']).*\1$/, 'is in quotes'],
];

/**
 * The refusal of a passcode that does not fit.
 * @param contents the AuthenticatedSafe
 */
export function explainPasscode(passcode: string, contents: Buffer): CertificateUnreadable {
  if (contents.includes(WINDOWS_PROTECTED_PASSCODE)) {
    return new CertificateUnreadable(
      'passcode',
      'The PFX is protected by a Windows account instead of a passcode (-ProtectTo).',
      'Export it with a passcode: Export-PfxCertificate -Password (Read-Host -AsSecureString) -CryptoAlgorithmOption AES256_SHA256.',
    );
  }
  if (passcode === '') {
    return new CertificateUnreadable(
      'passcode',
      'The PFX has a passcode, but none was given.',
      'Set BANK_PFX_PASSCODE (or the file is damaged).',
    );
  }
  const [, slip] = SLIPS.find(([looks]) => looks.test(passcode)) ?? [];
  return new CertificateUnreadable(
    'passcode',
    `The passcode of the PFX is wrong, or the file is damaged${slip ? `; the passcode given ${slip}` : ''}.`,
    'Check BANK_PFX_PASSCODE; to try one: openssl pkcs12 -legacy -in client.pfx -noout.',
  );
}
