import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { issueToken } from '../support/pretend-bank.js';

const bank = await bankForFile();

const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;

async function start(change: Record<string, unknown>) {
  bank.onToken = issueToken(bank, change);
  bank.requests.length = 0;
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' });
  const answers = [await askInTime(gateway), await askInTime(gateway), await askInTime(gateway)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { details } = (await gateway.get('/health')).json;
  return { gateway, answers, seconds: details.token.expiresInSeconds as number };
}

describe('token answers are read tolerantly', () => {
  it.each([['300'], [300], ['300.0'], [' 300'], ['300 ']])('expires_in %j is 300 s', async (value) => {
    const { gateway, answers, seconds } = await start({ expires_in: value });
    expect(seconds).toBeGreaterThanOrEqual(295);
    expect(seconds).toBeLessThanOrEqual(300);
    expect(gateway.events('token.lifetime-unknown')).toEqual([]);
    expect(tokenRequests()).toBe(1);
    await expectCommonConditions(bank, gateway, answers);
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['""', ''],
    ['"abc"', 'abc'],
    ['0', 0],
    ['-1', -1],
    ['"-1"', '-1'],
    ['1e9', 1e9],
    ['"1e9"', '1e9'],
    ['86401', 86_401],
    ['1.5', 1.5],
    ['an object', {}],
    ['an array', [300]],
    ['true', true],
  ])('expires_in %s counts as 60 s, with a warning and without a tight loop', async (_name, value) => {
    const { gateway, answers, seconds } = await start({ expires_in: value });
    expect(seconds).toBeGreaterThanOrEqual(55);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(gateway.events('token.lifetime-unknown')).toMatchObject([{ level: 'warn' }]);
    expect(tokenRequests()).toBe(1);
    await expectCommonConditions(bank, gateway, answers);
  });

  it.each([
    ['Bearer', 'Bearer'],
    ['bearer', 'bearer'],
    ['missing', undefined],
    ['null', null],
  ])('token_type %s', async (_name, value) => {
    const { gateway, answers } = await start({ token_type: value });
    await expectCommonConditions(bank, gateway, answers);
  });

  it('a day is the longest life', async () => {
    const { seconds } = await start({ expires_in: 86_400 });
    expect(seconds).toBeGreaterThan(86_390);
  });

  it('fields that nobody knows, and a byte order mark', async () => {
    const { access_token, ...rest } = { access_token: 'one.two-three_4', expires_in: '300', scope: 'x', more: [1] };
    bank.onToken = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(`\uFEFF${JSON.stringify({ access_token, ...rest })}`);
    };
    const gateway = await startGateway(bank);
    expect((await askInTime(gateway)).status).toBe(200);
    expect(bank.requests.at(-1)?.headers.authorization).toBe(`Bearer ${access_token}`);
  });
});
