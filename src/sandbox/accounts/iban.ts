import { composeIBAN } from 'ibantools';
import type { Dice } from './dice.js';

const BANK_LETTERS = 'SNDB';

/** Account number formats of each country (SWIFT IBAN registry): the part after country and check digits. */
const ACCOUNT_NUMBERS = {
  DE: (dice: Dice) => `100${dice.digits(15)}`,
  DK: (dice: Dice) => dice.digits(14),
  GB: (dice: Dice) => BANK_LETTERS + dice.digits(14),
  LU: (dice: Dice) => `040${dice.digits(13)}`,
  NL: (dice: Dice) => BANK_LETTERS + dice.digits(10),
  FR: (dice: Dice) => withFrenchKey(`16798${dice.digits(16)}`),
  SE: (dice: Dice) => dice.digits(20),
  CH: (dice: Dice) => `08704${dice.digits(12)}`,
} as const satisfies Record<string, (dice: Dice) => string>;

export type IbanCountry = keyof typeof ACCOUNT_NUMBERS;

/** A valid IBAN of that country, check digits included; its account does not exist. */
export function createIban(country: IbanCountry, dice: Dice): string {
  const iban = composeIBAN({ countryCode: country, bban: ACCOUNT_NUMBERS[country](dice) });
  if (!iban) throw new Error(`no valid IBAN for ${country}`);
  return iban;
}

/** A BIC of the fictitious bank in that country (ISO 9362: four letters, country, location). */
export function toBic(country: IbanCountry): string {
  return `${BANK_LETTERS}${country}22XXX`;
}

/** The two final digits of a French RIB: 97 − (number × 100 mod 97). */
function withFrenchKey(number: string): string {
  return number + (97n - ((BigInt(number) * 100n) % 97n)).toString().padStart(2, '0');
}
