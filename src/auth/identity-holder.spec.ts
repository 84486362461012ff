import { Activity } from '../telemetry/activity.js';
import { writeFileSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import { toEnvironment } from '../../test/support/gateway.js';
import { MovedClock } from '../../test/support/moved-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { startPretendBank } from '../../test/support/pretend-bank.js';
import { until } from '../../test/support/until.js';
import { readSettings } from '../config/read-settings.js';
import type { SecretSource } from '../config/kinds.js';
import { FileUnusable } from '../config/small-file.js';
import { BankCondition } from './bank-condition.js';
import { IdentityHolder } from './identity-holder.js';

const holders = new Set<IdentityHolder>();
afterAll(async () => {
  for (const holder of holders) holder.onApplicationShutdown();
});

/** A holder whose password file can be made unreadable without a trace in the file system, as EMFILE does. */
async function startHolder() {
  const bank = await startPretendBank();
  const { settings } = readSettings({ ...toEnvironment(bank), PORT: '0' }, { sandbox: false });
  const fault = { code: null as string | null, reads: 0 };
  const password = settings.BANK_PASSWORD;
  const unsteady: SecretSource = {
    ...password,
    read: () => {
      fault.reads += 1;
      if (fault.code === null) return password.read();
      const cause = Object.assign(new Error(fault.code), { code: fault.code, errno: -24 });
      throw new FileUnusable(bank.files.password, `cannot be read (${fault.code})`, { cause });
    },
  };
  const clock = new MovedClock();
  const log = keepLines();
  const holder = await IdentityHolder.start({
    activity: new Activity(),
    settings: { ...settings, BANK_PASSWORD: unsteady },
    clock,
    logger: log.logger,
    condition: new BankCondition(clock, log),
  });
  holders.add(holder);
  return { bank, clock, holder, log, fault };
}

it('EMFILE in the second of a change is not final, and reported once', async () => {
  const { bank, clock, holder, log, fault } = await startHolder();
  const next = await bank.issueClient('renewed');
  fault.code = 'EMFILE';
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
  await until(() => fault.reads >= 2, 20_000);
  clock.advance(60_000);
  await until(() => fault.reads >= 3, 20_000);
  expect(log.lines('certificate.refused')).toMatchObject([{ level: 'error', code: 'certificate-unusable' }]);
  expect(holder.status().refused?.detail).toContain('(EMFILE)');
  fault.code = null;
  clock.advance(60_000);
  await until(() => log.lines('certificate.replaced').length === 1, 20_000);
  expect(holder.status()).toMatchObject({ thumbprint: next.thumbprint, refused: null });
});

it('once closed it reads nothing more, and may be closed again', async () => {
  const { bank, holder, log } = await startHolder();
  const next = await bank.issueClient('renewed');
  writeFileSync(bank.files.passcode, next.passcode);
  writeFileSync(bank.files.pfx, next.pfx);
  const reloading = holder.reload();
  holder.onApplicationShutdown();
  await reloading;
  holder.onApplicationShutdown();
  expect(log.lines('certificate.replaced')).toEqual([]);
  expect(log.lines('certificate.refused')).toEqual([]);
});
