import { describe, expect, it } from '@jest/globals';
import { chooseListFormat } from './content-negotiation.js';

const FILLING = 'a/b,';

describe('a very long header', () => {
  it('is read by its beginning', () => {
    expect(chooseListFormat(`text/csv,${FILLING.repeat(4000)}`)).toBe('csv');
    expect(chooseListFormat(`${FILLING.repeat(200)}text/csv`)).toBe('csv');
  });

  it('its twin: what stands behind 1000 characters does not count', () => {
    expect(chooseListFormat(`${FILLING.repeat(4000)}text/csv`)).toBe('none');
    expect(chooseListFormat('a'.repeat(16_000))).toBe('none');
  });
});
