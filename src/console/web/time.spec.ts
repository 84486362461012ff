import { describe, expect, it } from '@jest/globals';
import { toAge, toClock, toCountdown, toDaysLeft, toMoment, toWrittenDate } from './time.js';

const DAY = 86_400_000;

describe('times for people', () => {
  it.each([
    [-1, '0 s'],
    [8.9, '8 s'],
    [99, '99 s'],
    [150, '2 min'],
    [7200, '2 h'],
    [4 * 86_400, '4 days'],
  ])('an age of %d s is %s', (seconds, text) => {
    expect(toAge(seconds)).toBe(text);
  });

  it.each([
    [-5, '0:00'],
    [252, '4:12'],
    [3723, '1:02:03'],
  ])('%d s that are left are %s', (seconds, text) => {
    expect(toCountdown(seconds)).toBe(text);
  });

  it.each([
    [364.9 * DAY, '364 days'],
    [2 * DAY + 4.5 * 3_600_000, '2 d 4 h'],
    [90_000, '1:30'],
    [-1, '0:00'],
  ])('%d ms of a certificate are %s', (milliseconds, text) => {
    expect(toDaysLeft(milliseconds)).toBe(text);
  });

  it.each([
    ['2017-06-03T00:00:00+00:00', '3 Jun 2017'],
    ['2021-06-30T23:59:59.1234567+02:00', '30 Jun 2021'],
    ['0001-01-01T00:00:00', '0001-01-01'],
    ['soon', 'soon'],
  ])('the date that the bank wrote as %s is %s, wherever the reader is', (instant, text) => {
    expect(toWrittenDate(instant)).toBe(text);
  });

  it('a moment of today has a time, another one a date', () => {
    const now = new Date('2026-11-21T12:00:00');
    expect(toMoment('2026-11-21T09:14:33', now)).toBe('09:14');
    expect(toMoment('2026-11-19T09:14:33', now)).toBe('19 Nov 2026');
  });

  it('a text that is no instant stays as it is', () => {
    expect(toClock('<b>')).toBe('<b>');
  });
});
