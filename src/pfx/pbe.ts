import type { Effort } from './effort.js';
import type { PasscodeForm } from './passcode-forms.js';

/** One way of encrypting by passcode, its parameters read. */
export interface Pbe {
  name: string;
  /** Broken or outdated: to be named in a warning. */
  legacy: boolean;
  /** Throws on wrong padding, as a wrong passcode gives nearly always; PfxUnreadable when it would take too long. */
  decrypt(ciphertext: Buffer, form: PasscodeForm, effort: Effort): Buffer;
}
