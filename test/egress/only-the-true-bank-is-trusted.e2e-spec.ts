import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { start } from '../support/sandbox.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';

describe('only the true bank is trusted', () => {
  it('a server certificate that is not valid yet is bank-untrusted, and neither password nor token is ever sent', async () => {
    const [soon, later] = [1, 48].map((hours) => new Date(Date.now() + hours * 3_600_000)) as [Date, Date];
    const bank = await startPretendBank({ serverValidity: { notBefore: soon, notAfter: later } });
    const gateway = await startGateway(bank);
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 502, code: 'bank-untrusted', owner: 'operator' });
    expect(bank.requests).toEqual([]);
    expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'bank-untrusted' }]);
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
    const both = join(temporaryDirectory(), 'roots.pem');
    writeFileSync(both, readFileSync(other.files.ca, 'utf8') + readFileSync(bank.files.ca, 'utf8'));
    const gateway = await startGateway(bank, { BANK_CA_FILE: both });
    expect((await askInTime(gateway)).status).toBe(200);
  });
});
