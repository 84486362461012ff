import { describe, expect, it } from '@jest/globals';
import { runSoak } from './soak.js';

/** Under `npm run test:full` the long run is one of its own. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 4);
const SEED = Number(process.env['SOAK_SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000);

describe('a soak', () => {
  it(
    `${SECONDS} s of faults at random, seed ${SEED}: nothing lost, nothing leaked, nothing wrong`,
    async () => {
      const report = await runSoak(SECONDS, SEED);
      expect({ seed: SEED, lost: report.lost, leaked: report.leaked, wrong: report.wrong }).toEqual({
        seed: SEED,
        lost: [],
        leaked: [],
        wrong: [],
      });
      expect(Object.keys(report.tried).length).toBeGreaterThan(2);
      expect(report.answered['200 stale=false']).toBeGreaterThan(100);
      expect(report.readings).toBeGreaterThan(5);
    },
    SECONDS * 1000 + 90_000,
  );
});
