import { describe, expect, it } from '@jest/globals';
import { toRequestId } from './request-id.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the id of a request', () => {
  it.each(['a', 'A.b_c-9', 'x'.repeat(64), '0c6b1e0e-0000-4000-8000-000000000000'])('%s is accepted', (header) => {
    expect(toRequestId(header)).toBe(header);
  });

  it.each([undefined, '', 'x'.repeat(65), 'a b', 'a\nb', 'a\n', 'ä', 'a,b', '"a"', '../a', ['a', 'b']])(
    '%j is replaced by a new id',
    (header) => {
      expect(toRequestId(header)).toMatch(UUID);
    },
  );

  it('is different each time it is created', () => {
    expect(toRequestId(undefined)).not.toBe(toRequestId(undefined));
  });
});
