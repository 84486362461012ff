import { toAlgorithm } from './algorithms.js';
import { type Asn1, isSequence, parseAsn1 } from './asn1.js';
import type { Effort } from './effort.js';
import type { PasscodeForm } from './passcode-forms.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import type { Seal } from './seal.js';
import { toPbe } from './to-pbe.js';

/** A passcode at work on one file: it is tried on the seal first, then on what is encrypted. */
export class Lock {
  readonly legacyNames = new Set<string>();
  private sealed = false;

  constructor(
    private forms: PasscodeForm[],
    private readonly effort: Effort,
  ) {}

  /** Throws PfxUnreadable 'passcode' if no form of the passcode fits. */
  checkSeal(seal: Seal, contents: Buffer): void {
    const fitting = this.forms.find((form) => seal.fits(contents, form, this.effort));
    if (fitting === undefined) {
      throw new PfxUnreadable(
        'passcode',
        'The passcode of the PFX is wrong, or else the file is damaged. Check BANK_PFX_PASSCODE; to try one: openssl pkcs12 -legacy -in client.pfx -noout.',
      );
    }
    this.sealed = true;
    this.forms = [fitting, ...this.forms.filter((form) => form !== fitting)];
    if (seal.legacyName !== undefined) this.legacyNames.add(seal.legacyName);
  }

  /** The SEQUENCE that was encrypted. Throws PfxUnreadable 'passcode' and 'unknown-algorithm', Malformed. */
  open(algorithmNode: Asn1 | undefined, ciphertext: Buffer): Asn1 {
    const pbe = toPbe(toAlgorithm(algorithmNode));
    if (pbe.legacy) this.legacyNames.add(pbe.name);
    for (const form of this.forms) {
      try {
        const opened = parseAsn1(pbe.decrypt(ciphertext, form, this.effort));
        if (isSequence(opened)) return opened;
      } catch (error) {
        if (error instanceof PfxUnreadable) throw error;
      }
    }
    throw new PfxUnreadable(
      'passcode',
      this.sealed
        ? 'The passcode fits the seal of the PFX, but not what is inside: it was made with two passcodes (openssl -twopass) or by a faulty program. Export it again with one.'
        : 'The passcode of the PFX is wrong, or else the file is damaged (it has no MAC that would tell). Check BANK_PFX_PASSCODE.',
    );
  }
}
