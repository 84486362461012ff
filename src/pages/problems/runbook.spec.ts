import { expect, it } from '@jest/globals';
import { PROBLEMS } from '../../errors/problem-table.js';
import { RUNBOOKS } from './runbook.js';

it('every step and remedy works where there is no npm, as in the image', () => {
  expect(JSON.stringify([RUNBOOKS, PROBLEMS])).not.toMatch(/\bnpm\b/);
});
