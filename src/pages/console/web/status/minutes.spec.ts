import { describe, expect, it } from '@jest/globals';
import { groupEvents } from './event-groups.js';
import type { ProblemEntry, Recent, RecentEvent } from '../shared/gateway.js';
import { toMinutes, toSummary } from './minutes.js';

const NOW = Date.parse('2026-11-21T10:13:02Z');
const point = (at: string, requests: number, change: object = {}) =>
  ({
    at: `2026-11-21T${at}Z`,
    requests,
    current: requests,
    errors: 0,
    stale: 0,
    ...change,
  }) as Recent['points'][number];

describe('the last hour by the minute', () => {
  const points = [
    point('10:10:10', 5),
    point('10:11:00', 1, { current: 0, stale: 1 }),
    point('10:11:10', 5, { current: 4, errors: 1 }),
    point('10:12:20', 5, { current: 0, stale: 4, errors: 1 }),
    point('10:12:30', 0),
    point('10:13:00', 0),
  ];
  const last = (served: Parameters<typeof toMinutes>[1]) =>
    toMinutes({ points }, served, NOW)
      .slice(-5)
      .map(({ current, stale, errors }) => [current, stale, errors].join(' '));

  it('has what the calls of each minute got; a point is of the seconds before it; the present one is what a call gets', () => {
    expect(toMinutes({ points }, 'current', NOW)).toHaveLength(60);
    expect(last('copy')).toEqual(['0 0 0', '5 1 0', '4 0 1', '0 4 1', '0 1 0']);
    expect(last('none').at(-1)).toBe('0 0 1');
    expect(last('current').at(-1)).toBe('1 0 0');
    expect(last('unknown').at(-1)).toBe('0 0 0');
  });

  it('is rounded down in words: only what is perfect is 100 %', () => {
    expect(toSummary({ clients: [], points: [point('10:10:10', 3)] })).toBe('100 % current · 0 of 3 failed');
    const nearly = [point('10:10:10', 9999), point('10:10:20', 1, { current: 0, errors: 1 })];
    expect(toSummary({ clients: [], points: nearly })).toBe('99.9 % current · 1 of 10\u202f000 failed');
    const copies = [point('10:10:10', 9), point('10:10:20', 1, { current: 0, stale: 1 })];
    expect(toSummary({ clients: [], points: copies })).toBe('90 % current · 10 % copy · 0 of 10 failed');
    expect(toSummary({ clients: [], points: [] })).toBe('No calls in the last hour');
  });
});

describe('events', () => {
  const event = (at: string, name: string, code?: string) =>
    ({ at: `2026-11-21T${at}Z`, level: 'warn', event: name, msg: 'it failed', code }) as RecentEvent;
  const problems = [{ code: 'bank-error', title: 'Bank errors' }] as unknown as ProblemEntry[];

  it('of one cause are one line, until it ends; the newest is first, and none is older than an hour', () => {
    const groups = groupEvents(
      [
        event('09:13:01', 'bank.unavailable', 'bank-error'),
        event('09:13:03', 'bank.unavailable', 'bank-error'),
        event('09:13:09', 'bank.recovered'),
        event('10:09:13', 'bank.unavailable', 'bank-error'),
        event('10:09:20', 'certificate.loaded'),
        event('10:12:50', 'snapshot.failed', 'bank-error'),
      ],
      problems,
      ['bank-error'],
      NOW,
    );
    expect(groups.map(({ title, count, open }) => [title, count, open])).toEqual([
      ['It failed', 1, false],
      ['Bank errors', 2, true],
      ['It failed', 1, false],
      ['Bank errors', 1, false],
    ]);
  });

  it('of an expiry have the message before its remedy', () => {
    const expiry = { ...event('10:00:00', 'certificate.expiring'), msg: 'it expires in 3 days: order another' };
    expect(groupEvents([expiry], problems, [], NOW)[0]?.title).toBe('It expires in 3 days');
  });
});
