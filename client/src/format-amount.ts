/**
 * An amount for people: the bank's digits without leading zeros, grouped for the locale, with the currency. Nothing is
 * rounded. A code that the platform does not know, such as USDC, becomes a suffix. Null is a dash; text that is not a
 * number is unchanged.
 */
export function formatAmount(amount: string | null, currency?: string | null, locale?: string | string[]): string {
  if (amount === null) return '–';
  const [, sign, whole, fraction] = /^(-?)0*(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const known = isKnown(currency);
  const suffix = currency && !known ? ` ${currency}` : '';
  if (whole === undefined) return amount + suffix;
  const digits = fraction === undefined ? 0 : 1;
  const format = new Intl.NumberFormat(locale, {
    ...(known && { style: 'currency', currency: currency as string }),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // a BigInt keeps every digit, and a fraction of one digit is the placeholder for the bank's; there is no BigInt for
  // -0
  const parts = format.formatToParts(sign && whole === '0' ? -0 : BigInt(`${sign}${whole}`));
  const text = parts.map(({ type, value }) => (type === 'fraction' ? toLocaleDigits(fraction ?? '', locale) : value));
  return text.join('') + suffix;
}

function isKnown(currency: string | null | undefined): boolean {
  return Boolean(currency) && Intl.supportedValuesOf('currency').includes((currency as string).toUpperCase());
}

function toLocaleDigits(digits: string, locale: string | string[] | undefined): string {
  const format = new Intl.NumberFormat(locale);
  return [...digits].map((digit) => format.format(Number(digit))).join('');
}
