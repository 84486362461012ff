import { describe, expect, it } from '@jest/globals';
import { createTypeChooser } from './negotiation.js';

const choose = createTypeChooser(['application/json', 'text/csv']);
const FILLING = 'a/b,';

describe('the type for Accept', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
    ['text/csv; charset="a, b"; q=0.9, application/json;version=2;q=0.1', 'text/csv'],
    ['text/csv;charset', 'text/csv'],
    ['text/html', 'none'],
    ['application/json;q=0, */*', 'text/csv'],
    // only the beginning of a very long header is read
    [`text/csv,${FILLING.repeat(4000)}`, 'text/csv'],
    [`${FILLING.repeat(200)}text/csv`, 'text/csv'],
    [`${FILLING.repeat(4000)}text/csv`, 'none'],
    ['a'.repeat(16_000), 'none'],
  ])('%.60s is %s', (accept, type) => {
    expect(choose(accept)).toBe(type);
  });
});
