import { expect, it } from '@jest/globals';
import { isSkewed, toClockSkewMs } from './clock-skew.js';

const NOW = Date.parse('2026-11-23T08:00:00.400Z');

it.each([
  ['Mon, 23 Nov 2026 08:00:00 GMT', -400, false],
  ['Mon, 23 Nov 2026 08:00:30 GMT', 29_600, false],
  ['Mon, 23 Nov 2026 08:10:00 GMT', 599_600, true],
  ['Mon, 23 Nov 2026 07:50:00 GMT', -600_400, true],
])('the Date header %s gives %i ms', (date, expected, skewed) => {
  const skew = toClockSkewMs(date, NOW) as number;
  expect([skew, isSkewed(skew)]).toEqual([expected, skewed]);
});

it.each([undefined, '', 'yesterday', '0', 'Mon, no date'])('the Date header %s gives no skew', (date) => {
  expect(toClockSkewMs(date, NOW)).toBeNull();
});
