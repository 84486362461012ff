import { Dice } from './dice.js';
import { toDecimalText } from '../../recording/digits.js';

const INTRA_DAY = /("intraDayAmount":)(-?\d+)(?:\.(\d+))?(?=[,}])/g;

/**
 * The account's JSON with its intraday amounts `second` seconds after movement was switched on. Each account changes
 * every one to seven seconds, by at most 99 999 minor units from its initial amount, with the same decimals. An amount
 * with an exponent does not change.
 */
export function moveBalances(json: string, seed: number, index: number, second: number): string {
  const step = Math.floor(second / (1 + (index % 7)));
  if (step === 0) return json;
  const dice = new Dice(`${seed}:movement:${index}:${step}`);
  return json.replace(INTRA_DAY, (_all, name: string, whole: string, fraction = '') => {
    const moved = BigInt(whole + fraction) + BigInt(dice.int(-99_999, 99_999));
    return name + toDecimalText(moved, (fraction as string).length);
  });
}
