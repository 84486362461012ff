import { PfxUnreadable } from './pfx-unreadable.js';

/** 1.3.6.1.4.1.311.17.4: Windows keeps in such a bag the passcode it made up for -ProtectTo. */
const WINDOWS_PROTECTED_PASSCODE = Buffer.from('06092b0601040182371104', 'hex');

const SLIPS: { slip: string; correct(passcode: string): string }[] = [
  { slip: 'ends with a line end', correct: (passcode) => passcode.replace(/[\r\n]+$/, '') },
  {
    slip: 'starts with a byte order mark',
    correct: (passcode) => (passcode.startsWith('\ufeff') ? passcode.slice(1).trimEnd() : passcode),
  },
  { slip: 'starts or ends with a space', correct: (passcode) => passcode.trim() },
  { slip: 'stands in quotes', correct: (passcode) => passcode.trim().replace(/^(["'])(.*)\1$/, '$2') },
];

/** A refused passcode said more exactly, if a usual slip explains it: `opensWith` tries the file with the slip corrected. */
export function explainPasscode(
  refusal: PfxUnreadable,
  bytes: Buffer,
  passcode: string,
  passcodeName: string,
  opensWith: (another: string) => boolean,
): PfxUnreadable {
  const explain = (message: string): PfxUnreadable => new PfxUnreadable('passcode', message, { cause: refusal });
  if (bytes.includes(WINDOWS_PROTECTED_PASSCODE)) {
    return explain(
      'The PFX is protected for a Windows account instead of by a passcode (-ProtectTo). Export it with one: Export-PfxCertificate -Password (Read-Host -AsSecureString) -CryptoAlgorithmOption AES256_SHA256.',
    );
  }
  if (passcode === '') {
    return explain(`The PFX has a passcode, but none was given: set ${passcodeName} (or the file is damaged).`);
  }
  for (const { slip, correct } of SLIPS) {
    const corrected = correct(passcode);
    if (corrected !== passcode && corrected !== '' && opensWith(corrected)) {
      return explain(`The passcode given for the PFX ${slip}; without it the file opens. Correct ${passcodeName}.`);
    }
  }
  if (opensWith('')) return explain(`The PFX has an empty passcode, but one was given: leave ${passcodeName} out.`);
  return refusal;
}
