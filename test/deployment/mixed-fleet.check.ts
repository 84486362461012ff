import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/call.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { listSample } from '../support/sample-accounts.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

/** `main.js` of the previous version. `.ci/upgrade` builds it and runs this file, which `npm test` leaves out. */
const previous = process.env['PREVIOUS_MAIN'] ?? '';

/** One bank and one Redis. Instances of both versions run side by side. */
async function scene() {
  const [bank, redis] = [await startPretendBank(), await startRedis()];
  bank.onAccounts = listSample(3);
  const cwd = temporaryDirectory();
  const run = async (version: 'new' | 'old', name: string) => {
    const file = join(cwd, name);
    const env = programEnvironment(bank, { ...redis.env, SNAPSHOT_FILE: file, SNAPSHOT_FRESH_MS: '0' });
    const program = await startProgram({ cwd, env, ...(version === 'old' && { main: previous }) });
    const url = await program.started();
    const accounts = async () => {
      const { status, text } = await get(`${url}/api/v1/accounts`);
      return [status, (JSON.parse(text) as { accounts: unknown[] }).accounts.length];
    };
    return { program, file, accounts };
  };
  return { redis, run };
}

(hasRedis() ? describe : describe.skip)('this version beside the previous one', () => {
  it.each([
    ['old', 'new'],
    ['new', 'old'],
  ] as const)(
    '%s first, then %s: one Redis, then one file; both serve, and neither logs a problem twice',
    async (a, b) => {
      const { redis, run } = await scene();
      const first = await run(a, 'first');
      expect(await first.accounts()).toEqual([200, 3]);
      await until(() => redis.cli('KEYS', '*').includes('accounts-gateway'));
      const second = await run(b, 'second');
      for (let call = 0; call < 3; call += 1) {
        for (const { accounts } of [second, first]) expect(await accounts()).toEqual([200, 3]);
      }
      first.program.child.kill();
      expect(await first.program.exit).toBe(0);
      copyFileSync(first.file, join(first.file, '../third'));
      const third = await run(b, 'third');
      for (let call = 0; call < 3; call += 1) expect(await third.accounts()).toEqual([200, 3]);
      // a file of the same form is served; one of another form is rejected once
      const served = third.program.events('snapshot.refreshed').filter(({ source }) => source === 'file');
      expect(served.length + third.program.events('sharing.refused').length).toBe(1);
      for (const { program } of [first, second, third]) {
        expect(program.events('sharing.refused').length).toBeLessThanOrEqual(1);
        expect(program.stdout()).not.toMatch(/sharing\.unavailable|"level":"error"/);
      }
    },
  );
});
