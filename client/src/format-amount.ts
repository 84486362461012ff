/**
 * An amount for people: the bank's digits without leading zeros, grouped for the locale, with the currency. Nothing is
 * rounded. A code that the platform does not know, such as USDC, becomes a suffix. A missing amount is a dash; text that
 * is not a number is not formatted. @throws RangeError for a wrong locale
 */
export function formatAmount(
  amount: string | null | undefined,
  currency?: string | null,
  locale?: string | string[],
): string {
  if (amount === null || amount === undefined) return '–';
  const [, sign, whole, fraction] = /^(-?)0*(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const known = isKnown(currency);
  const suffix = currency && !known ? ` ${currency}` : '';
  if (whole === undefined) return amount + suffix;
  const digits = fraction === undefined ? 0 : 1;
  const format = formatOf(locale, {
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

const MAX_FORMATS = 100;
/** A format takes longer to create than to use, and a page has many amounts in few currencies. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string | string[] | undefined, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = JSON.stringify([locale, options]);
  const known = formats.get(key);
  if (known) return known;
  const created = new Intl.NumberFormat(locale, options);
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(key, created);
  return created;
}

let currencies: ReadonlySet<string> | undefined;

function isKnown(currency: string | null | undefined): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'));
  return currencies.has((currency ?? '').toUpperCase());
}

function toLocaleDigits(digits: string, locale: string | string[] | undefined): string {
  const format = formatOf(locale);
  return [...digits].map((digit) => format.format(Number(digit))).join('');
}
