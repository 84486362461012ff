import { expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { examineWith } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { startRedis } from '../support/redis.js';
import { closedPort } from '../support/servers.js';

const bank = await bankForFile();

it.each([false, true])('the step sharing writes, reads and deletes a key (TLS: %s)', async (tls) => {
  const redis = await startRedis({ tls });
  const { report, exitCode } = await examineWith({ ...toEnvironment(bank), ...redis.env });
  expect([exitCode, report.steps.at(-1)]).toMatchObject([0, { name: 'sharing', status: 'ok' }]);
  expect(redis.cli('dbsize').trim()).toBe('0');
});

it.each([
  ['is not there', async () => ({ REDIS_URL: `redis://127.0.0.1:${await closedPort()}` }), 'ECONNREFUSED'],
  [
    'refuses the user',
    async () => {
      const redis = await startRedis({ credentials: 'nobody:hunter2@' });
      return redis.env;
    },
    'WRONGPASS',
  ],
] as const)('a Redis that %s fails it with exit code 10', async (_name, start, reason) => {
  const { report, exitCode, everything } = await examineWith({ ...toEnvironment(bank), ...(await start()) });
  expect([exitCode, report.ok, report.steps.at(-1)]).toMatchObject([
    10,
    false,
    { name: 'sharing', status: 'failed', code: 'sharing-unavailable', owner: 'operator' },
  ]);
  expect(report.steps.at(-1)?.problem).toContain(reason);
  expect(everything).not.toContain('hunter2');
});
