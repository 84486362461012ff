import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toSortableInstant } from './sortable-instant.js';

/** Seconds with 12 digits, and the fraction without trailing zeros. */
const sortable = (date: Date) => {
  const seconds = Math.floor(date.getTime() / 1000);
  const fraction = String(date.getTime() - seconds * 1000).padStart(3, '0');
  return `${3e11 + seconds}.${fraction.replace(/0+$/, '')}`;
};

describe("the instant in the bank's text", () => {
  it('equals that of Date, if Date can parse the text', () => {
    const range = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(range), fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset) => {
        const sign = offset < 0 ? '-' : '+';
        const two = (value: number) => String(value).padStart(2, '0');
        const zone = `${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
        const text = date.toISOString().replace('Z', zone);
        const instant = new Date(date.getTime() - offset * 60_000);
        expect(toSortableInstant(text)).toBe(sortable(instant));
      }),
    );
  });

  it.each([
    ['2023-02-21', '2023-02-21T00:00:00Z', 0],
    ['2023-02-21T00:00:00', '2023-02-21T00:00:00.0000000+00:00', 0],
    ['2023-02-21T00:00:00.0000001Z', '2023-02-21T00:00:00.0000002Z', -1],
    ['2023-02-21T00:00:00.1Z', '2023-02-21T00:00:00.0999999Z', 1],
    ['2023-02-21T01:00+0200', '2023-02-20T23:00:00Z', 0],
    ['0001-01-01T00:00:00', '1901-01-01T00:00:00', -1],
    ['2023-02-21T00:00:00.0100Z', '2023-02-21T00:00:00.01Z', 0],
    ['0099-12-31', '1970-01-01', -1],
  ])('%s compared with %s is %i', (a, b, order) => {
    const [x, y] = [toSortableInstant(a) as string, toSortableInstant(b) as string];
    expect(Number(x > y) - Number(x < y)).toBe(order);
  });

  const NONE = ['', 'soon', '2023-02-30', '2023-13-01', '2023-02-21T25:00:00Z', '21.02.2023', '20230221'];
  it.each([...NONE, '2023-02-21T00:00:00Zx', '2023-02-21T00:00:00.Z', '2023-02-21T24:00:00.001Z'])(
    'is null for "%s"',
    (text) => {
      expect(toSortableInstant(text)).toBeNull();
    },
  );
});
