import { PfxUnreadable } from './pfx-unreadable.js';

/** 1.3.6.1.4.1.311.17.4: Windows keeps in such a bag the passcode it made up for -ProtectTo. */
const WINDOWS_PROTECTED_PASSCODE = Buffer.from('06092b0601040182371104', 'hex');

const SLIPS: { slip: string; mend(passcode: string): string }[] = [
  { slip: 'ends with a line end', mend: (passcode) => passcode.replace(/[\r\n]+$/, '') },
  {
    slip: 'starts with a byte order mark',
    mend: (passcode) => (passcode.startsWith('\ufeff') ? passcode.slice(1).trimEnd() : passcode),
  },
  { slip: 'starts or ends with a space', mend: (passcode) => passcode.trim() },
  { slip: 'stands in quotes', mend: (passcode) => passcode.trim().replace(/^(["'])(.*)\1$/, '$2') },
];

/** A refused passcode said more exactly, if a usual slip explains it; it tries the file with the slip mended. */
export function explainPasscode(
  refusal: PfxUnreadable,
  bytes: Buffer,
  passcode: string,
  opensWith: (another: string) => boolean,
): PfxUnreadable {
  const explain = (message: string): PfxUnreadable => new PfxUnreadable('passcode', message, { cause: refusal });
  if (bytes.includes(WINDOWS_PROTECTED_PASSCODE)) {
    return explain(
      'The PFX is protected for a Windows account instead of by a passcode (-ProtectTo). Export it with one: Export-PfxCertificate -Password (Read-Host -AsSecureString) -CryptoAlgorithmOption AES256_SHA256.',
    );
  }
  if (passcode === '') {
    return explain('The PFX has a passcode, but none was given: set BANK_PFX_PASSCODE (or the file is damaged).');
  }
  for (const { slip, mend } of SLIPS) {
    const mended = mend(passcode);
    if (mended !== passcode && mended !== '' && opensWith(mended)) {
      return explain(`The passcode given for the PFX ${slip}; without it the file opens. Correct BANK_PFX_PASSCODE.`);
    }
  }
  if (opensWith('')) return explain('The PFX has an empty passcode, but one was given: leave BANK_PFX_PASSCODE out.');
  return refusal;
}
