import { afterEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { closeStreams, openStream } from '../support/event-stream.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { sampleAccount, sampleAccounts, sampleId } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
afterEach(closeStreams);

const NOTHING = { added: [], changed: [], removed: [], totalsChanged: false };
/** Each call reads the bank. */
const start = async (env: Record<string, string> = {}) => {
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', ...env });
  await gateway.get('/api/v1/accounts');
  return gateway;
};
const watch = (gateway: Gateway, lastEventId: string, query = '') =>
  openStream(`${gateway.url}/api/v1/events${query}`, lastEventId === '' ? {} : { 'last-event-id': lastEventId });
const named = (name: string, number = 1) => sampleAccount(number, { friendlyName: name });

/** The id of the present state, as a listener gets it. */
async function idNow(gateway: Gateway): Promise<string> {
  const stream = await watch(gateway, '');
  const { id } = await stream.event(0);
  stream.close();
  return id ?? '';
}

/** The bank lists these accounts from now on, and the gateway has read them: a reading may have been under way before. */
async function change(gateway: Gateway, accounts: readonly object[]): Promise<string> {
  bank.onAccounts = listAccounts(accounts);
  const before = gateway.events('snapshot.refreshed').length;
  await until(async () => {
    await gateway.get('/api/v1/accounts?pageSize=1');
    return gateway.events('snapshot.refreshed').length >= before + 2;
  });
  return idNow(gateway);
}

describe('a listener who comes back', () => {
  it('with the present state gets a comment only, however often it is read', async () => {
    const gateway = await start();
    const stream = await watch(gateway, await idNow(gateway));
    await until(() => stream.all.length > 0);
    const before = gateway.events('snapshot.refreshed').length;
    await until(() => gateway.events('snapshot.refreshed').length >= before + 3);
    expect(stream.all[0]).toMatchObject({ type: null, data: undefined, comment: true, retry: 3000 });
    // readings that change nothing send the id alone
    expect(stream.all.slice(1).filter(({ type, data }) => type !== null || data !== undefined)).toEqual([]);
  });

  it('with a known one gets the sum of the changes since', async () => {
    bank.onAccounts = listAccounts([named('a', 1), named('b', 2), named('c', 3)]);
    const gateway = await start();
    const known = await idNow(gateway);
    await change(gateway, [named('a', 1), named('x', 2), named('d', 4)]);
    const present = await change(gateway, [named('a', 1), named('y', 2), named('e', 5)]);
    const event = await (await watch(gateway, known)).event(0);
    expect([event.type, event.id]).toEqual(['snapshot', present]);
    expect(event.data).toMatchObject({
      accounts: 3,
      added: [sampleId(5)],
      changed: [sampleId(2)],
      removed: [sampleId(3)],
    });
  });

  it('for a filter that nobody had then: exactly what came into it, changed in it and left it', async () => {
    const usd = { currency: 'USD' };
    bank.onAccounts = listAccounts([sampleAccount(1), sampleAccount(2), sampleAccount(3, usd), sampleAccount(4, usd)]);
    const gateway = await start();
    const known = await idNow(gateway);
    await change(gateway, [
      sampleAccount(1, { friendlyName: 'another' }),
      sampleAccount(2, usd),
      sampleAccount(3),
      sampleAccount(4, { ...usd, friendlyName: 'another' }),
    ]);
    const { data } = await (await watch(gateway, known, '?currency=USD')).event(0);
    expect(data).toMatchObject({ added: [sampleId(2)], changed: [sampleId(4)], removed: [sampleId(3)], accounts: 2 });
    // what a filter never showed is nothing to it
    const other = await watch(gateway, known, '?q=nobody');
    await until(() => other.all.length > 0);
    expect(other.events).toEqual([]);
  });

  it.each(['A'.repeat(43), 'x', '0', ' ', '../../etc/passwd', 'é'.repeat(300), '"\\<script>'])(
    'with one that is not known (%s) is told to read all again',
    async (id) => {
      const gateway = await start();
      const stream = await watch(gateway, Buffer.from(id).toString('latin1'));
      const [first, second] = [await stream.event(0), ...(id.trim() === '' ? [] : [await stream.event(1)])];
      if (id.trim() === '') expect(first.type).toBe('snapshot');
      else {
        expect([first.type, first.data]).toEqual(['reset', {}]);
        expect(second?.type).toBe('snapshot');
        expect(second?.data).toMatchObject(NOTHING);
      }
      expect(stream.text).not.toContain('script');
    },
  );

  it('20 states are kept, and no more', async () => {
    const gateway = await start();
    const ids = [await idNow(gateway)];
    const stream = await watch(gateway, '');
    for (let state = 1; state <= 20; state++) {
      ids.push(await change(gateway, [named(`state ${state}`)]));
    }
    expect(new Set(ids).size).toBe(21);
    await until(() => stream.events.length === 21);
    expect((await (await watch(gateway, ids[0] ?? '')).event(0)).type).toBe('reset');
    const { type, data } = await (await watch(gateway, ids[1] ?? '')).event(0);
    expect([type, data]).toEqual(['snapshot', expect.objectContaining({ changed: [sampleId(1)] })]);
  });

  it('another instance understands the id, if it was up then', async () => {
    const [gateway, other] = [await start(), await start()];
    const known = await idNow(gateway);
    expect(await idNow(other)).toBe(known);
    const accounts = [...sampleAccounts(3), sampleAccount(4)];
    await Promise.all([change(gateway, accounts), change(other, accounts)]);
    expect((await (await watch(other, known)).event(0)).data).toMatchObject({
      ...NOTHING,
      added: [sampleId(4)],
      totalsChanged: true,
    });
  });

  it('after all was dropped, since no accounts are granted any more, is told to read all again', async () => {
    const gateway = await start({ SNAPSHOT_FRESH_MS: '3600000' });
    const known = await idNow(gateway);
    const live = await watch(gateway, '');
    await live.event(0);
    bank.onAccounts = (_request, response) => json(response, 404, {});
    await until(async () => (await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' })).status === 502);
    expect((await live.event(1)).data).toEqual({ stale: false, code: 'access-not-granted', owner: 'bank' });
    const late = await watch(gateway, known);
    expect(await late.event(0)).toMatchObject({ type: 'state', id: known });
    bank.onAccounts = listAccounts(sampleAccounts(3));
    await until(() => live.events.length === 5);
    expect(live.events.slice(2).map(({ type }) => type)).toEqual(['state', 'reset', 'snapshot']);
    // the data are those that this one says to know
    await until(() => late.all.at(-1)?.type === null);
    expect(late.events.map(({ type }) => type)).toEqual(['state', 'state']);
  });
});
