import { CertificateUnreadable } from './certificate-unreadable.js';

/** 1.3.6.1.4.1.311.17.4: in such a bag Windows keeps the passcode that it made up for -ProtectTo. */
const WINDOWS_PROTECTED_PASSCODE = Buffer.from('06092b0601040182371104', 'hex');

const SLIPS: { slip: string; correct(passcode: string): string }[] = [
  { slip: 'ends with a line end', correct: (passcode) => passcode.replace(/[\r\n]+$/, '') },
  { slip: 'starts with a byte order mark', correct: (passcode) => passcode.replace(/^\ufeff(.*?)\s*$/s, '$1') },
  { slip: 'starts or ends with a space', correct: (passcode) => passcode.trim() },
  { slip: 'is in quotes', correct: (passcode) => passcode.trim().replace(/^(["'])(.*)\1$/, '$2') },
];

/** The more exact refusal if a usual slip explains it; `open` tries the file with the slip corrected. */
export function explainPasscode(
  refusal: CertificateUnreadable,
  bytes: Buffer,
  passcode: string,
  open: (other: string) => unknown,
): CertificateUnreadable {
  const explain = (problem: string, remedy: string) =>
    new CertificateUnreadable('passcode', problem, remedy, { cause: refusal });
  const opensWith = (other: string) => {
    try {
      return Boolean(open(other));
    } catch {
      return false;
    }
  };
  if (bytes.includes(WINDOWS_PROTECTED_PASSCODE)) {
    return explain(
      'The PFX is protected by a Windows account instead of a passcode (-ProtectTo).',
      'Export it with a passcode: Export-PfxCertificate -Password (Read-Host -AsSecureString) -CryptoAlgorithmOption AES256_SHA256.',
    );
  }
  if (passcode === '') {
    return explain('The PFX has a passcode, but none was given.', 'Set BANK_PFX_PASSCODE (or the file is damaged).');
  }
  for (const { slip, correct } of SLIPS) {
    const corrected = correct(passcode);
    if (corrected !== passcode && corrected !== '' && opensWith(corrected)) {
      return explain(
        `The passcode given for the PFX ${slip}; without it the file opens.`,
        'Correct BANK_PFX_PASSCODE.',
      );
    }
  }
  if (opensWith('')) return explain('The PFX has an empty passcode, but one was given.', 'Unset BANK_PFX_PASSCODE.');
  return refusal;
}
