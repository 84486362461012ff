import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { control, start } from '../support/sandbox.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const tokensOf = (sandbox: Sandbox) => sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize').length;
const tokenRequests = (bank: PretendBank) => bank.requests.filter(({ path }) => path.includes('authorize')).length;
const listRequests = (bank: PretendBank) => bank.requests.length - tokenRequests(bank);

describe('a revoked token is healed within the call', () => {
  it('the next call is answered 200, with exactly one more token request', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0' });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(tokensOf(sandbox)).toBe(1);
    await control(sandbox, 'PATCH', { revokeTokens: true });
    const answer = await askInTime(gateway);
    expect(answer.status).toBe(200);
    expect(answer.json.snapshot).toMatchObject({ stale: false, complete: true });
    expect(tokensOf(sandbox)).toBe(2);
    const lists = sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts');
    expect(lists.map(({ status, tokenNumber }) => [status, tokenNumber])).toEqual([
      [200, 1],
      [401, 1],
      [200, 2],
    ]);
    expect(gateway.events('token.rejected')).toHaveLength(1);
    expect(gateway.events('bank.unavailable')).toEqual([]);
  });

  it('50 late answers of 401 to one token cost one renewal', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank, {
      BANK_PAGE_SIZE: '1',
      BANK_MAX_CONCURRENT_REQUESTS: '50',
      SNAPSHOT_FRESH_MS: '0',
    });
    const good = listSample(51);
    // the second token is good; all pages after the first wait, then the first token is refused for all of them
    let refused = 0;
    const waiting: (() => void)[] = [];
    bank.onAccounts = (request, response, url) => {
      const first = request.headers.authorization === `Bearer ${bank.tokens[0]}`;
      if (!first || url.searchParams.get('PageNumber') === '1') return good(request, response, url);
      waiting.push(() => {
        refused += 1;
        json(response, 401, {});
      });
      if (waiting.length === 50) for (const [index, answer] of waiting.entries()) setTimeout(answer, index);
    };
    const answer = await askInTime(gateway);
    expect(answer.status).toBe(200);
    expect(answer.json.page.total).toBe(51);
    expect(refused).toBe(50);
    expect(tokenRequests(bank)).toBe(2);
    expect(listRequests(bank)).toBe(1 + 50 + 50);
    expect(gateway.events('token.rejected')).toHaveLength(1);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('its twin: 401 always is bounded, and told as bank-refused', async () => {
    const bank = await startPretendBank();
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
    bank.onAccounts = (_request, response) => json(response, 401, {});
    const answers = [];
    for (let call = 0; call < 20; call++) answers.push(await askInTime(gateway));
    expect(new Set(answers.map(({ json: { code } }) => code))).toEqual(new Set(['bank-refused']));
    expect(tokenRequests(bank)).toBe(2);
    expect(listRequests(bank)).toBe(2);
    // the wait over, one probe; but no second forced renewal within 5 s
    clock.advance(1500);
    answers.push(await askInTime(gateway));
    expect(tokenRequests(bank)).toBe(2);
    expect(listRequests(bank)).toBe(3);
    clock.advance(10_000);
    answers.push(await askInTime(gateway));
    expect(tokenRequests(bank)).toBe(3);
    expect(answers.at(-1)?.json.code).toBe('bank-refused');

    bank.onAccounts = listSample();
    clock.advance(40_000);
    await until(async () => (await askInTime(gateway)).status === 200);
    await expectCommonConditions(bank, gateway, answers);
  });

  it('the same token again and again is bounded too', async () => {
    const bank = await startPretendBank();
    const gateway = await startGateway(bank);
    bank.onToken = issueToken(bank, { access_token: 'always-the-same' });
    bank.onAccounts = (_request, response) => json(response, 401, {});
    const answers = await Promise.all(Array.from({ length: 20 }, () => askInTime(gateway)));
    expect(new Set(answers.map(({ json: { code } }) => code))).toEqual(new Set(['bank-refused']));
    expect([tokenRequests(bank), listRequests(bank)]).toEqual([2, 2]);
    await expectCommonConditions(bank, gateway, answers);
  });
});
