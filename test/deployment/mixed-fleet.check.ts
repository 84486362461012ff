import { existsSync } from 'node:fs';
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

/** `main.js` of an older version. `.ci/upgrade` builds it and runs this file, which `npm test` leaves out. */
const previous = process.env['PREVIOUS_MAIN'] ?? '';

/** A bank, and instances of both versions that use it, each with its own directory and this store. */
async function scene(store: (cwd: string) => Record<string, string>) {
  const bank = await startPretendBank();
  bank.onAccounts = listSample(3);
  return async (version: Version, cwd = temporaryDirectory()) => {
    const env = programEnvironment(bank, { ...store(cwd), SNAPSHOT_FRESH_MS: '0' });
    const program = await startProgram({ cwd, env, ...(version === 'old' && { main: previous }) });
    const url = await program.started();
    const expectAccounts = async () => {
      const { status, text } = await get(`${url}/api/v1/accounts`);
      expect([status, (JSON.parse(text) as { accounts: unknown[] }).accounts.length]).toEqual([200, 3]);
    };
    return { program, cwd, expectAccounts };
  };
}

type Version = 'new' | 'old';
const ORDERS: [Version, Version][] = [
  ['old', 'new'],
  ['new', 'old'],
];

(hasRedis() ? describe : describe.skip)('this version beside the previous one', () => {
  it.each(ORDERS)('with one Redis, %s first, then %s: both serve, and neither logs a problem twice', async (a, b) => {
    const redis = await startRedis();
    const run = await scene(() => redis.env);
    const first = await run(a);
    await first.expectAccounts();
    await until(() => redis.cli('KEYS', '*').includes('accounts-gateway'));
    const second = await run(b);
    for (let call = 0; call < 3; call += 1) for (const each of [second, first]) await each.expectAccounts();
    for (const { program } of [first, second]) {
      expect(program.events('sharing.refused').length).toBeLessThanOrEqual(1);
      expect(program.stdout()).not.toMatch(/sharing\.unavailable|"level":"error"/);
    }
  });
});

describe('this version after the previous one, or a roll back', () => {
  it.each(ORDERS)('with one snapshot file, %s first, then %s: serves, and logs a problem once', async (a, b) => {
    const run = await scene((cwd) => ({ SNAPSHOT_FILE: join(cwd, 'snapshot') }));
    const first = await run(a);
    await first.expectAccounts();
    first.program.child.kill();
    expect(await first.program.exit).toBe(0);
    const second = await run(b, first.cwd);
    for (let call = 0; call < 3; call += 1) await second.expectAccounts();
    expect(second.program.stdout()).not.toContain('"level":"error"');
    // a copy of the same form is served; one of another form is rejected once. Before 1.0.0 there was no such file
    const served = second.program.events('snapshot.refreshed').filter(({ source }) => source === 'file');
    if (b === 'new' && existsSync(join(first.cwd, 'snapshot')))
      expect(served.length + second.program.events('sharing.refused').length).toBe(1);
  });
});
