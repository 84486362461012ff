import { afterEach, describe, expect, it } from '@jest/globals';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { closeStreams, openStream } from '../support/event-stream.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
afterEach(closeStreams);

const WELL = { stale: false, code: null, owner: null };
const start = (env: Record<string, string> = {}) => startGateway(bank, { SNAPSHOT_FRESH_MS: '300', ...env });
const watch = (gateway: Gateway) => openStream(`${gateway.url}/api/v1/events`);
const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;

describe('listeners are told of trouble', () => {
  it('when the bank fails, and when it is well again; in between it is asked as seldom as ever', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    const { id } = await stream.event(0);
    bank.onAccounts = (_request, response) => json(response, 500, {});
    const failed = await stream.event(1);
    // it is told as soon as it fails, and again when what is held has grown old, where that is later
    expect(failed).toMatchObject({ type: 'state', id, data: { code: 'bank-unavailable', owner: 'bank' } });
    await until(() => stream.events.at(-1)?.data.stale === true);
    const before = lists();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    // after 1 s, then 2 s, each with one repetition
    expect(lists() - before).toBeLessThanOrEqual(4);
    expect((await watch(gateway)).text).toBeDefined();
    repair(bank);
    await until(() => JSON.stringify(stream.events.at(-1)?.data) === JSON.stringify(WELL), 15_000);
    expect(stream.events.filter(({ type }) => type === 'snapshot')).toHaveLength(1);
  });

  it('who comes then is told both: what there is, and that it is old', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await until(async () => (await gateway.get('/api/v1/accounts')).headers['snapshot-stale'] === 'true');
    const stream = await watch(gateway);
    expect((await stream.event(0)).data).toMatchObject({ accounts: 3, stale: true });
    expect((await stream.event(1)).data).toEqual({ stale: true, code: 'bank-unavailable', owner: 'bank' });
  });

  it('while there is nothing to serve, the stream is open and begins with the state', async () => {
    bank.onToken = (_request, response) => json(response, 401, {});
    const gateway = await start();
    const stream = await watch(gateway);
    expect(stream.status).toBe(200);
    expect(await stream.event(0)).toMatchObject({ type: 'state', id: '', retry: 3000, data: WELL });
    expect((await stream.event(1)).data).toEqual({ stale: false, code: 'credentials-rejected', owner: 'operator' });
    const late = await watch(gateway);
    expect((await late.event(0)).data).toMatchObject({ code: 'credentials-rejected' });
    // the account must not be locked by those who listen
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(bank.requests).toHaveLength(1);
    expect(stream.events).toHaveLength(2);
  });

  it('a slow bank makes what is held old, without a code', async () => {
    const gateway = await start({ SNAPSHOT_SOFT_TIMEOUT_MS: '200' });
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    await stream.event(0);
    let letGo = () => undefined as void;
    bank.onAccounts = (...args) => {
      letGo = () => {
        repair(bank);
        bank.onAccounts(...args);
      };
    };
    expect(await stream.event(1)).toMatchObject({ type: 'state', data: { ...WELL, stale: true } });
    letGo();
    expect(await stream.event(2)).toMatchObject({ type: 'state', data: WELL });
  });
});
