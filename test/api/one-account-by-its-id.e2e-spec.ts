import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { start } from '../support/sandbox.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';

let gateway: Gateway;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox);
});

describe('one account by its id', () => {
  it('is the same as in the list, from the same snapshot', async () => {
    const { accounts, snapshot } = (await gateway.get('/api/v1/accounts?pageSize=1000')).json;
    for (const account of [accounts[0], accounts[60], accounts[119]]) {
      const answer = await askInTime(gateway, `/api/v1/accounts/${account.id}`);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ account, snapshot });
    }
    expect(sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts')).toHaveLength(1);
  });

  it.each([
    '00000000-0000-4000-8000-000000000000',
    'nobody',
    '__proto__',
    'constructor',
    '..%2f..%2fhealth',
    'a%00b',
    '%F0%9F%90%9F',
    'x'.repeat(200),
  ])('%s is account-not-found', async (id) => {
    const answer = await askInTime(gateway, `/api/v1/accounts/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      code: 'account-not-found',
      owner: 'caller',
      instance: `/api/v1/accounts/${id}`,
    });
  });

  it.each(['/api/v1/accounts/x/y', '/api/v1/account', '/api/v2/accounts', '/api/v1/Accounts', '/nothing'])(
    '%s is not-found',
    async (path) => {
      const answer = await askInTime(gateway, path);
      expect(answer.status).toBe(404);
      expect(answer.json).toMatchObject({ code: 'not-found', owner: 'caller', instance: path });
    },
  );

  it('an id longer than any bank has is refused as a problem, too', async () => {
    const answer = await askInTime(gateway, `/api/v1/accounts/${'x'.repeat(5000)}`);
    expect([400, 404, 414]).toContain(answer.status);
    expect(answer.json.owner).toBe('caller');
  });
});
