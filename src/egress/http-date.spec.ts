import { describe, expect, it } from '@jest/globals';
import { isSkewed, parseHttpDate, toRetryAfterMs } from './http-date.js';

const NOW = Date.parse('2026-11-23T08:00:00.400Z');

describe('a Date header', () => {
  it.each([
    ['Mon, 23 Nov 2026 08:00:00 GMT', -400, false],
    ['Mon, 23 Nov 2026 08:00:30 GMT', 29_600, false],
    ['Mon, 23 Nov 2026 08:10:00 GMT', 599_600, true],
    ['Mon, 23 Nov 2026 07:50:00 GMT', -600_400, true],
  ])('%s is %i ms off', (date, expected, skewed) => {
    const skew = (parseHttpDate(date) ?? 0) - NOW;
    expect([skew, isSkewed(skew)]).toEqual([expected, skewed]);
  });

  it.each([undefined, '', 'yesterday', '0', 'Mon, no date'])('%s is not valid', (date) => {
    expect(parseHttpDate(date)).toBeNull();
  });
});

describe('a Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    [' 120 ', 120_000],
    ['1000000000', 1e12],
    ['Mon, 23 Nov 2026 08:02:00 GMT', 119_600],
    ['Mon, 23 Nov 2026 07:00:00 GMT', 0],
    ['Monday, 23-Nov-26 08:02:00 GMT', 119_600],
    ['Mon Nov 23 08:02:00 2026', 119_600],
    ['Thu Dec  3 08:00:00 2026', 864_000_000 - 400],
  ])('%j is %i ms', (header, ms) => {
    expect(toRetryAfterMs(header, '', NOW)).toBe(ms);
  });

  it.each([
    ['10 min ahead of ours', 'Mon, 23 Nov 2026 08:10:00 GMT', 'Mon, 23 Nov 2026 08:10:04 GMT'],
    ['10 min behind ours', 'Mon, 23 Nov 2026 07:50:00 GMT', 'Mon, 23 Nov 2026 07:50:04 GMT'],
  ])('with a date from a clock %s is read against the Date of its response', (_name, date, header) => {
    expect(toRetryAfterMs(header, date, NOW)).toBe(4000);
    expect(toRetryAfterMs('7', date, NOW)).toBe(7000);
  });

  it('that is a date is compared with our clock if the Date of the response is invalid', () => {
    expect(toRetryAfterMs('Mon, 23 Nov 2026 08:00:04 GMT', 'today', NOW)).toBe(3600);
  });

  it.each([
    undefined,
    '',
    'soon',
    '-5',
    '1.5',
    '1e3',
    '5 s',
    '5, 6',
    '2026-11-21',
    'Mon Nov 23',
    'Foo, 99 Bar 2026',
    '٣',
  ])('%j has no effect', (header) => {
    expect(toRetryAfterMs(header, '', NOW)).toBeUndefined();
  });
});
