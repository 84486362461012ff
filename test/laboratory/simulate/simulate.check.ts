import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Month } from './play-month.js';

const ROOT = new URL('../../../', import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  scripts: { simulate: string };
};
const COMMAND = scripts.simulate.split('&& node ').at(-1)?.split(' ') ?? [];

/** `npm run simulate -- --check` compares the rest of the month with README.md. */
describe('the first six days of the simulated month', () => {
  let month: Month;
  beforeAll(async () => {
    // in a separate process, because it replaces the timers
    const { stdout } = await promisify(execFile)(process.execPath, [...COMMAND, '--days', '6', '--json'], {
      cwd: ROOT,
    });
    month = JSON.parse(stdout) as Month;
  });

  it('never sends an expired token, or two token requests at once', () => {
    expect(month.misuse).toEqual({ expiredTokens: 0, tokenRequestsAtOnce: 1 });
  });

  it('makes few token requests, and no call fails through slow responses, a short outage, revoked tokens or a wrong clock', () => {
    expect(month.odd).toEqual(expect.arrayContaining(['slow', 'down', 'revoked', 'clock']));
    expect(Math.max(...month.calls.token)).toBeLessThan(24 * 20);
    expect(month.counters['errors']).toBeUndefined();
  });

  it('makes no refresh while nobody calls: on Saturday there is one export', () => {
    expect(month.calls.accounts.map((calls) => calls > 3000)).toEqual([true, true, true, true, true, false]);
    expect(month.calls.accounts[5]).toBeLessThanOrEqual(2);
  });

  it('fires BankSlow, with the bank as owner', () => {
    const alerts = month.alerts.filter(({ announced }) => !announced);
    expect(alerts).toContainEqual(expect.objectContaining({ name: 'AccountsGatewayBankSlow', owner: 'bank' }));
  });
});
