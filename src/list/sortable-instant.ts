// linear time for any text: the bank's can have up to 4000 characters
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](?=\d)(\d*[1-9])?0*)?)?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?)?$/;

/** Gives all instants from year 0 to 9999 12 digits. */
const OFFSET_SECONDS = 300_000_000_000;

/**
 * A string that sorts by time, for an instant in any form of docs/bank.md#dates; null for any other text. Without an
 * offset, it counts as UTC.
 */
export function toSortableInstant(text: string): string | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  // Date.UTC maps years below 100 to the 20th century
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (hour > 24 || minute > 59 || second > 60 || part(9) > 23 || part(10) > 59) return null;
  // 24:00 is the end of a day, with nothing after it (ISO 8601)
  if (hour === 24 && (minute > 0 || second > 0 || match[7] !== undefined)) return null;
  const offset = (match[8] === '-' ? -1 : 1) * (part(9) * 3600 + part(10) * 60);
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  return `${OFFSET_SECONDS + seconds}.${match[7] ?? ''}`;
}
