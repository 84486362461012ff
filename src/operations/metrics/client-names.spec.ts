import { describe, expect, it } from '@jest/globals';
import { ClientNames } from './client-names.js';

type Request = Parameters<ClientNames['of']>[0];

const callBy = (clientName: string | undefined): Request => ({
  clientName,
  route: '/api/v1/accounts',
  problem: undefined,
});

describe('client names', () => {
  it.each([
    ['cash-report', 'cash-report'],
    ['x'.repeat(40), 'x'.repeat(40)],
    ['x'.repeat(41), 'other'],
    ['app12345', 'other'],
    ['DE89370400440532013000', 'other'],
    ['a"b', 'other'],
    ['', 'none'],
    [undefined, 'none'],
  ])('%s is %s', (header, label) => {
    expect(new ClientNames().of(callBy(header))).toBe(label);
  });

  it('keep the first 50', () => {
    const names = new ClientNames();
    const labels = Array.from({ length: 60 }, (_, index) => names.of(callBy(`app-${toLetters(index)}`)));
    expect(labels.filter((label) => label === 'other')).toHaveLength(10);
    expect(names.of(callBy(`app-${toLetters(0)}`))).toBe(`app-${toLetters(0)}`);
  });

  it.each<[string, Partial<Request>]>([
    ['the guard rejects the client', { problem: { code: 'client-not-allowed', owner: 'caller' } }],
    ['the guard rejects the host', { problem: { code: 'host-not-allowed', owner: 'caller' } }],
    ['there is no such route', { route: null }],
  ])('are not learned from a request if %s, but recognized', (_why, change) => {
    const names = new ClientNames();
    for (let index = 0; index < 60; index++) {
      expect(names.of({ ...callBy(`app-${toLetters(index)}`), ...change })).toBe('other');
    }
    expect(names.of(callBy('treasury'))).toBe('treasury');
    expect(names.of({ ...callBy('treasury'), ...change })).toBe('treasury');
  });
});

/** A different word for each number. */
const toLetters = (index: number): string =>
  index.toString(36).replace(/\d/g, (digit) => `_${'abcdefghij'[Number(digit)]}`);
