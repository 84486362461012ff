import { expect, it } from '@jest/globals';
import { NODE_FLOOR, warnOfNode } from './node-floor.js';

it.each(['24.0.0', '24.9.0', '24.21.0', '24.22.2'])('a Node with known vulnerabilities is a warning: %s', (version) => {
  expect(warnOfNode(version)).toEqual([expect.stringMatching(`^Node ${version} .* use Node ${NODE_FLOOR} or later$`)]);
});

it.each([NODE_FLOOR, '24.22.10', '24.100.0', '26.1.0'])('a Node from the floor on is none: %s', (version) => {
  expect(warnOfNode(version)).toEqual([]);
});
