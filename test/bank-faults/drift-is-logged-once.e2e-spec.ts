import { beforeAll, describe, expect, it } from '@jest/globals';
import { healthSchema } from '../../src/health/health-schemas.js';
import { expectNoSecret } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { listAccounts, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { PLANTED, sampleAccount, sampleAccounts } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
});

const CHANGED = {
  status: 'Frozen',
  newField: PLANTED.text,
  [PLANTED.iban]: PLANTED.iban,
  balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: 1, availableAmount: 12.5 }],
};
const DRIFT = [
  { path: 'status', value: 'Frozen' },
  { path: 'balances[].availableAmount' },
  { path: 'newField' },
  { path: '*' },
];

describe('what the bank sends that the gateway does not know', () => {
  it('is served, logged once and listed in /health, which stays ok', async () => {
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '50' }, clock);
    bank.onAccounts = listAccounts(sampleAccounts(120));
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect((await gateway.get('/health')).json.details.bank.drift).toEqual([]);
    expect(gateway.events('bank.drift')).toEqual([]);

    // on the last page
    bank.onAccounts = listAccounts([...sampleAccounts(119), sampleAccount(120, CHANGED)]);
    for (let reading = 0; reading < 3; reading++) {
      clock.advance(20_000);
      const { json } = await gateway.get('/api/v1/accounts?status=frozen');
      expect(json).toMatchObject({ page: { total: 1 }, accounts: [{ status: 'Frozen' }] });
    }
    const health = (await gateway.get('/health')).json;
    expect(healthSchema.strict().parse(health).status).toBe('ok');
    expect(health.details.bank).toMatchObject({ status: 'up', drift: DRIFT });
    const logged = gateway.events('bank.drift');
    expect(logged).toEqual(
      DRIFT.map((drift) => ({
        level: 'warn',
        time: expect.any(String),
        event: 'bank.drift',
        ...drift,
        msg: expect.any(String),
      })),
    );
    expectNoSecret(gateway.lines.join('') + JSON.stringify(health), [PLANTED.iban, PLANTED.text]);
  });

  it('is nothing that the sandbox sends, odd as its accounts are', async () => {
    const sandbox = await start({ accounts: 2000 });
    const gateway = await startGateway(sandbox);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(2000);
    expect(gateway.events('bank.drift')).toEqual([]);
    expect((await gateway.get('/health')).json.details.bank.drift).toEqual([]);
  });
});
