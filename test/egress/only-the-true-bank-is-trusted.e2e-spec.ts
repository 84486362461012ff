import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cleanUp, makeDirectory, start } from '../support/sandbox.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { closeGateways, startGateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank, type PretendBankOptions } from '../support/pretend-bank.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
  await cleanUp();
});

const HOUR_MS = 3_600_000;
const hours = (from: number, to: number) => ({
  notBefore: new Date(Date.now() + from * HOUR_MS),
  notAfter: new Date(Date.now() + to * HOUR_MS),
});

describe('only the true bank is trusted', () => {
  it.each<[string, PretendBankOptions]>([
    ['expired', { serverValidity: hours(-48, -1) }],
    ['not yet valid', { serverValidity: hours(1, 48) }],
    ['for another name', { serverNames: ['bank.example', '127.0.0.2'] }],
  ])(
    'a server certificate %s is bank-untrusted, and neither password nor token is ever sent',
    async (_name, options) => {
      const bank = await startPretendBank(options);
      const gateway = await startGateway(bank);
      const answer = await askInTime(gateway);
      expect(answer.json).toMatchObject({ status: 502, code: 'bank-untrusted', owner: 'operator' });
      expect(bank.requests).toEqual([]);
      expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'bank-untrusted' }]);
      await expectCommonConditions(bank, gateway, [answer]);
    },
  );

  it('a private CA that is not configured is bank-untrusted', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, { BANK_CA_FILE: '' });
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 502, code: 'bank-untrusted' });
    expect(bank.requests).toEqual([]);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it("another bank's CA is not this one's; with BANK_CA_FILE only its roots count", async () => {
    const [bank, other] = [await startPretendBank(), await startPretendBank()];
    const gateway = await startGateway(bank, { BANK_CA_FILE: other.files.ca });
    expect((await askInTime(gateway)).json.code).toBe('bank-untrusted');
    expect(bank.requests).toEqual([]);
  });

  it('a CA that only the PFX holds makes nobody trusted', async () => {
    // the sandbox's PFX holds its intermediate; its root signs the server
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { BANK_CA_FILE: '' });
    expect((await askInTime(gateway)).json.code).toBe('bank-untrusted');
    expect(sandbox.requests).toEqual([]);
  });

  it('its twin: several roots in the file, the right one among them', async () => {
    const [bank, other] = [await startPretendBank(), await startPretendBank()];
    const both = join(makeDirectory(), 'roots.pem');
    writeFileSync(both, readFileSync(other.files.ca, 'utf8') + readFileSync(bank.files.ca, 'utf8'));
    const gateway = await startGateway(bank, { BANK_CA_FILE: both });
    expect((await askInTime(gateway)).status).toBe(200);
  });
});
