import { describe, expect, it } from '@jest/globals';
import {
  serverNow,
  setServerTime,
  toClock,
  toCountdown,
  toDateAndMinute,
  toDuration,
  toMinute,
  toMoment,
  toWrittenDate,
} from './time.js';

describe('times for people', () => {
  it.each([
    [-1, '0 s'],
    [8900, '8 s'],
    [229_000, '3 min'],
    [300_000, '5 min'],
    [7_500_000, '2 h'],
    [4 * 86_400_000, '4 days'],
  ])('a duration of %d ms is %s', (ms, text) => {
    expect(toDuration(ms)).toBe(text);
  });

  it.each([
    [-5, '0:00'],
    [252, '4:12'],
    [3723, '1:02:03'],
  ])('%d s left are shown as %s', (seconds, text) => {
    expect(toCountdown(seconds)).toBe(text);
  });

  it.each([
    ['2017-06-03T00:00:00+00:00', '3 Jun 2017'],
    ['2021-06-30T23:59:59.1234567+02:00', '30 Jun 2021'],
    ['0001-01-01T00:00:00', '0001-01-01'],
    ['soon', 'soon'],
  ])("the bank's date %s is shown as %s, wherever the reader is", (instant, text) => {
    expect(toWrittenDate(instant)).toBe(text);
  });

  it('the time of day is in UTC; text other than an instant is unchanged', () => {
    const instant = '2026-11-21T10:09:11.500Z';
    expect([toClock(instant), toMinute(instant), toClock('<b>')]).toEqual(['10:09:11', '10:09', '<b>']);
    expect(toDateAndMinute(instant)).toBe('21 Nov 2026, 10:09');
  });

  it('shows the date of a time on another day', () => {
    const instant = '2026-11-21T23:59:58.500Z';
    expect(toMoment(instant, Date.parse('2026-11-21T00:00:00Z'))).toBe('23:59:58');
    expect(toMoment(instant, Date.parse('2026-11-22T00:00:01Z'))).toBe('21 Nov, 23:59:58');
  });

  it("now is the gateway's time, however wrong the reader's clock is", () => {
    setServerTime('Sat, 21 Nov 2020 10:00:00 GMT');
    const before = serverNow();
    expect(Math.abs(before - Date.UTC(2020, 10, 21, 10))).toBeLessThan(60_000);
    // whole seconds: half a second makes no difference
    setServerTime(new Date(before - 500).toUTCString());
    expect(serverNow()).toBeGreaterThanOrEqual(before);
    setServerTime(null);
    expect(serverNow()).toBeGreaterThanOrEqual(before);
    setServerTime(new Date().toUTCString());
  });
});
