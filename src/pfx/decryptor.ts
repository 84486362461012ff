import { toAlgorithm } from './algorithms.js';
import { type Asn1, isSequence, parseAsn1 } from './asn1.js';
import { toEncryptionScheme } from './encryption-scheme.js';
import type { KdfBudget } from './kdf-budget.js';
import type { Mac } from './mac.js';
import type { PasscodeForm } from './passcode-forms.js';
import { PfxUnreadable } from './pfx-unreadable.js';

/** Opens one file with one passcode: its forms are tried on the MAC first, then on what is encrypted. */
export class Decryptor {
  /** Names of outdated algorithms that were met. */
  readonly legacyNames = new Set<string>();
  readonly #budget: KdfBudget;
  readonly #passcodeName: string;
  #forms: readonly PasscodeForm[];
  #macFits = false;

  /** `passcodeName` is the setting that messages tell to correct. */
  constructor(forms: readonly PasscodeForm[], budget: KdfBudget, passcodeName: string) {
    this.#forms = forms;
    this.#budget = budget;
    this.#passcodeName = passcodeName;
  }

  /** Throws PfxUnreadable 'passcode' if no form of the passcode fits. */
  verify(mac: Mac, contents: Buffer): void {
    const fitting = this.#forms.find((form) => mac.fits(contents, form, this.#budget));
    if (fitting === undefined) {
      throw new PfxUnreadable(
        'passcode',
        `The passcode of the PFX is wrong, or else the file is damaged. Check ${this.#passcodeName}; to try one: openssl pkcs12 -legacy -in client.pfx -noout.`,
      );
    }
    this.#macFits = true;
    this.#forms = [fitting, ...this.#forms.filter((form) => form !== fitting)];
    if (mac.legacyName !== undefined) this.legacyNames.add(mac.legacyName);
  }

  /** The SEQUENCE that was encrypted. Throws PfxUnreadable 'passcode' and 'unknown-algorithm', Malformed. */
  decrypt(algorithmNode: Asn1 | undefined, ciphertext: Buffer): Asn1 {
    const scheme = toEncryptionScheme(toAlgorithm(algorithmNode));
    if (scheme.legacy) this.legacyNames.add(scheme.name);
    for (const form of this.#forms) {
      try {
        const decrypted = parseAsn1(scheme.decrypt(ciphertext, form, this.#budget));
        if (isSequence(decrypted)) return decrypted;
      } catch (error) {
        if (error instanceof PfxUnreadable) throw error;
      }
    }
    throw new PfxUnreadable(
      'passcode',
      this.#macFits
        ? 'The passcode fits the MAC of the PFX, but not what is inside: it was made with two passcodes (openssl -twopass) or by a faulty program. Export it again with one.'
        : `The passcode of the PFX is wrong, or else the file is damaged (it has no MAC that would tell). Check ${this.#passcodeName}.`,
    );
  }
}
