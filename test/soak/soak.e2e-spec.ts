import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/documents.js';
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

  it('npm run soak builds what it needs by itself', async () => {
    const { BUILT_SOURCES: _built, TEST_STOCK: _stock, ...env } = process.env;
    const options = { cwd: ROOT, env };
    const run = promisify(execFile)('npm', ['run', '--silent', 'soak', '--', '--seconds', '1', '--seed', '7'], options);
    const { stdout, stderr } = await run;
    expect(stderr).toContain('nothing lost, nothing leaked, nothing wrong');
    expect(JSON.parse(stdout)).toMatchObject({ lost: [], leaked: [], wrong: [] });
  }, 90_000);
});
