import { expect, it } from '@jest/globals';
import { ALL_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { remedyFor } from './remedies.js';

const OF_THE_PATH = ALL_CODES.filter(
  (code) => PROBLEMS[code].owner !== 'caller' && !/^(overloaded|stopping|internal)/.test(code),
);

it.each(OF_THE_PATH)('the remedy for %s suits a doctor that tries once', (code) => {
  expect(remedyFor(code)).not.toMatch(/gateway (retries|waits|loads|uses)|dist\/main\.js|npm run|listener|`detail`/);
});
