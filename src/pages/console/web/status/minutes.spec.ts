import { describe, expect, it } from '@jest/globals';
import { at, NOW, PROBLEMS, recentWith } from '../../../../../test/support/health-sample.js';
import type { Recent, RecentEvent } from '../shared/gateway.js';
import { toGot, toRows } from './apps.js';
import { groupEvents } from './happened.js';
import { toMinutes, toSummary } from './minutes.js';

const point = (time: string, requests: number, change: object = {}) =>
  ({ at: at(time), requests, current: requests, errors: 0, stale: 0, ...change }) as Recent['points'][number];

describe('the last hour', () => {
  it("has the results of each minute's calls; a point covers the seconds before it", () => {
    const points = [
      point('10:10:10', 5),
      point('10:11:00', 1, { current: 0, stale: 1 }),
      point('10:11:10', 5, { current: 4, errors: 1 }),
      point('10:12:30', 0),
    ];
    const minutes = toMinutes(points, NOW);
    expect(minutes).toHaveLength(60);
    expect(minutes.slice(-4).map(({ requests, current, stale, errors }) => [requests, current, stale, errors])).toEqual(
      [
        [6, 5, 1, 0],
        [5, 4, 0, 1],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    );
  });

  it('has no record before the first point, which does not mean that there were no calls', () => {
    const minutes = toMinutes([point('10:12:10', 0), point('10:12:20', 1)], NOW);
    expect(minutes.map(({ isRecorded }) => isRecorded)).toEqual([
      ...Array.from({ length: 58 }, () => false),
      true,
      false,
    ]);
  });

  it.each([
    [[], 'no calls'],
    [[point('10:10:10', 1)], '1 call · 1 current · 0 copy · 0 failed'],
    // a caller's error is not a failure, and is counted as the caller's
    [
      [point('10:10:10', 9999, { current: 9998 })],
      '9\u202f999 calls · 9\u202f998 current · 0 copy · 0 failed · 1 rejected (4xx)',
    ],
    [
      [
        point('10:10:10', 9, { current: 0, errors: 9, failuresByOwner: { bank: 8, operator: 1 } }),
        point('10:10:20', 1, { current: 0, errors: 1, failuresByOwner: { operator: 1 } }),
      ],
      '10 calls · 0 current · 0 copy · 10 failed (8 bank, 2 operator)',
    ],
  ])('is summed up in one unit: %j', (points, text) => {
    expect(toSummary(points)).toBe(text);
  });
});

describe('the apps', () => {
  it('are sorted by failures, then by name; each has its results', () => {
    const { clients } = recentWith([
      { name: 'b', callsPerMinute: 4, current: 2, stale: 1 },
      { name: 'c', callsPerMinute: 1, current: 0, errors: 1 },
      { name: 'a', callsPerMinute: 0, current: 0 },
    ]);
    expect(toRows(clients).map((client) => `${client.name}: ${toGot(client)}`)).toEqual([
      'c: 1 failed',
      'b: 2 current, 1 copy, 1 rejected (4xx)',
      'a: ',
    ]);
  });
});

describe('events', () => {
  const event = (time: string, name: string, code?: string) =>
    ({ at: at(time), level: 'warn', event: name, msg: 'it failed', code }) as RecentEvent;

  it('are one line for the same cause until it ends; the newest is first, and none is older than an hour', () => {
    const events = [
      event('09:13:01', 'bank.unavailable', 'bank-error'),
      event('09:13:03', 'bank.unavailable', 'bank-error'),
      event('09:13:09', 'bank.recovered'),
      event('10:09:13', 'bank.unavailable', 'bank-error'),
      event('10:09:13', 'snapshot.failed', 'bank-error'),
      event('10:09:20', 'config.warning'),
      event('10:09:30', 'sandbox.reset'),
      event('10:09:31', 'config.reload'),
      event('10:12:50', 'snapshot.failed', 'bank-error'),
    ];
    const groups = groupEvents(events, PROBLEMS, ['bank-error'], NOW);
    expect(groups.map(({ title, count, open, bySwitch }) => [title, count, open, bySwitch])).toEqual([
      ['Reload requested', 1, false, false],
      ['The switches of the sandbox were reset', 1, false, true],
      ['It failed', 1, false, false],
      ['The bank returned a server error', 2, true, false],
      ['It failed', 1, false, false],
      ['The bank returned a server error', 1, false, false],
    ]);
  });
});
