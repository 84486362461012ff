/** Why a PFX cannot be used, as a word for programs; the message says it to people. */
export type PfxFault =
  /** The file could not be opened at all. */
  | 'file'
  | 'passcode'
  | 'not-pfx'
  | 'cut-off'
  | 'unknown-algorithm'
  | 'damaged'
  | 'no-key'
  | 'no-certificate'
  | 'key-mismatch'
  | 'refused-by-tls';

/**
 * The one error of this folder. Its message is a single line: what the file is or what is wrong with it, then what
 * to do. It never holds the passcode, key material or other contents of the file.
 */
export class PfxUnreadable extends Error {
  override readonly name = 'PfxUnreadable';

  constructor(
    readonly reason: PfxFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What to do where the file itself leads to no PFX. */
export const GIVE_PFX = 'give the PFX (.pfx or .p12) that the bank or Windows exported';

/** The refusal of a file that is something else: "a ZIP archive", "unpack it". */
export function toNotPfx(what: string, remedy: string): PfxUnreadable {
  return new PfxUnreadable('not-pfx', `The file is ${what}, not a PFX; ${remedy}.`);
}

/** The settings that messages tell the operator to correct, by the names that the operator knows. */
export interface SettingNames {
  readonly passcode: string;
  /** Takes the file as base64 text. */
  readonly base64: string;
}
