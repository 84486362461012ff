import { describe, expect, it } from '@jest/globals';
import { groupEvents } from './event-groups.js';
import type { ProblemEntry, Recent, RecentEvent } from './gateway.js';
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
  it('has the worst of each minute; a point is of the seconds before it', () => {
    const points = [
      point('10:10:10', 5),
      point('10:11:00', 1, { stale: 1 }),
      point('10:11:10', 5, { current: 0, stale: 5 }),
      point('10:12:20', 5, { errors: 1, stale: 4 }),
      point('10:12:30', 0),
    ];
    const minutes = toMinutes({ points }, NOW);
    expect(minutes).toHaveLength(60);
    expect(minutes.slice(-5).map(({ state, requests }) => `${state} ${requests}`)).toEqual([
      'none 0',
      'stale 6',
      'stale 5',
      'failed 5',
      'none 0',
    ]);
  });

  it('is rounded down in words: only what is perfect is 100 %', () => {
    expect(toSummary({ points: [point('10:10:10', 3)] })).toBe('100 % answered fresh · 0 failed calls');
    const nearly = [point('10:10:10', 9999), point('10:10:20', 1, { current: 0, errors: 1 })];
    expect(toSummary({ points: nearly })).toBe('99.9 % answered fresh · 1 failed call');
    expect(toSummary({ points: [] })).toBe('No calls in the last hour');
  });
});

describe('events', () => {
  const event = (at: string, name: string, code?: string) =>
    ({ at: `2026-11-21T${at}Z`, level: 'warn', event: name, msg: 'it failed', code }) as RecentEvent;
  const problems = [{ code: 'bank-error', title: 'Bank errors' }] as unknown as ProblemEntry[];

  it('of one cause are one line, until it ends; the newest is first', () => {
    const groups = groupEvents(
      [
        event('09:00:00', 'bank.unavailable', 'bank-error'),
        event('09:00:09', 'bank.recovered'),
        event('10:09:13', 'bank.unavailable', 'bank-error'),
        event('10:09:20', 'certificate.loaded'),
        event('10:12:50', 'snapshot.failed', 'bank-error'),
      ],
      problems,
      ['bank-error'],
    );
    expect(groups.map(({ title, count, open }) => [title, count, open])).toEqual([
      ['It failed', 1, false],
      ['Bank errors', 2, true],
      ['It failed', 1, false],
      ['Bank errors', 1, false],
    ]);
  });
});
