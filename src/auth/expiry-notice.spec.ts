import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { daysLeft, ExpiryNotice, toDays } from './expiry-notice.js';

const DAY_MS = 86_400_000;
const END = Date.UTC(2027, 0, 1);

const certificate = (thumbprint = 'AA', notAfter = END) => ({
  subject: 'CN=client',
  thumbprint,
  notAfter: new Date(notAfter),
});

function startNotice() {
  const lines: { level: number; event: string; use: string; daysLeft: number; thumbprint: string; msg: string }[] = [];
  const notice = new ExpiryNotice(
    pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    { use: 'listener', what: 'a certificate', remedy: 'get another' },
  );
  return { notice, lines };
}

describe('the notice that a certificate expires', () => {
  it('is logged once each 60, 30, 14, 7, 1 and 0 days before expiry, however often it is checked', () => {
    const { notice, lines } = startNotice();
    for (let hour = 100 * 24; hour >= -48; hour--) notice.check(certificate(), END - hour * 3_600_000);
    expect(lines.map(({ daysLeft: left }) => left)).toEqual([60, 30, 14, 7, 1, 0]);
    // level error from 14 days on: someone must act
    expect(lines.map(({ level }) => level)).toEqual([40, 40, 50, 50, 50, 50]);
    expect(new Set(lines.map(({ event, use }) => `${event} ${use}`))).toEqual(
      new Set(['certificate.expiring listener']),
    );
    expect(lines.at(-1)?.msg).toBe('a certificate has expired: get another');
  });

  it('is logged at once for a certificate with 20 days left, and next at 14 days', () => {
    const { notice, lines } = startNotice();
    for (const day of [20, 19.5, 15, 14, 13]) notice.check(certificate(), END - day * DAY_MS);
    expect(lines.map(({ daysLeft: left }) => left)).toEqual([20, 14]);
  });

  it('is logged again on time after a wrong clock was corrected', () => {
    const { notice, lines } = startNotice();
    for (const day of [100, -400, 99, 30]) notice.check(certificate(), END - day * DAY_MS);
    expect(lines.map(({ daysLeft: left }) => left)).toEqual([-400, 30]);
  });

  it('is not logged for a long validity, and starts again with another certificate', () => {
    const { notice, lines } = startNotice();
    notice.check(certificate(), END - 61 * DAY_MS);
    expect(lines).toEqual([]);
    notice.check(certificate(), END - 6 * DAY_MS);
    notice.check(certificate('BB', END + 365 * DAY_MS), END - 6 * DAY_MS);
    notice.check(certificate('CC', END + DAY_MS), END - 6 * DAY_MS);
    expect(lines.map(({ thumbprint }) => thumbprint)).toEqual(['AA', 'CC']);
  });

  it('counts whole days, negative after the end', () => {
    expect(daysLeft(certificate(), END - 1.5 * DAY_MS)).toBe(1);
    expect(daysLeft(certificate(), END + 0.5 * DAY_MS)).toBe(-1);
  });
});

it.each([
  [0, 'less than a day'],
  [1, '1 day'],
  [7, '7 days'],
])('%i days left are shown as: %s', (days, words) => {
  expect(toDays(days)).toBe(words);
});
