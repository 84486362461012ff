/** Orders two texts by their code units: less than 0 when `a` comes before `b`; needs no language. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
