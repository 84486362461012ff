import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createClient,
  type GatewayProblem,
  type SnapshotEvent,
  type StateEvent,
  type Watch,
} from '../../client/src/index.js';
import { bankForFile } from '../support/bank-for-file.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { accountWith, sampleId } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
/** From now on the bank has these. */
const has = (...accounts: object[]) => (bank.onAccounts = listAccounts(accounts));

describe('a watch of the real feed', () => {
  const watches: Watch[] = [];
  const listen = (gateway: Gateway, currency?: string) => {
    const seen = { snapshots: [] as SnapshotEvent[], states: [] as StateEvent[], problems: [] as GatewayProblem[] };
    const watch = createClient({ baseUrl: gateway.url }).watch(
      { currency },
      {
        onSnapshot: (event) => seen.snapshots.push(event),
        onState: (event) => seen.states.push(event),
        onError: (problem) => seen.problems.push(problem),
      },
    );
    watches.push(watch);
    return { ...seen, close: () => watch.close() };
  };
  // before the gateway is closed
  afterEach(() => {
    for (const watch of watches.splice(0)) watch.close();
  });

  it('tells what changed at the bank, then that it is away, then that it is well again', async () => {
    has(accountWith(1, 10), accountWith(2, 20));
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '200' });
    const { snapshots, states, problems } = listen(gateway);
    await until(() => snapshots.length === 1);
    expect(snapshots[0]).toMatchObject({ accounts: 2, added: [], changed: [], removed: [] });
    has(accountWith(1, 11), accountWith(3, 30));
    await until(() => snapshots.length === 2);
    expect(snapshots[1]).toMatchObject({
      added: [sampleId(3)],
      changed: [sampleId(1)],
      removed: [sampleId(2)],
      totalsChanged: true,
    });
    bank.onAccounts = (_request, response) => json(response, 500, {});
    await until(() => states.at(-1)?.stale === true, 15_000);
    expect(states.at(-1)).toEqual({ stale: true, code: 'bank-error', owner: 'bank' });
    has(accountWith(1, 11), accountWith(3, 30));
    await until(() => states.at(-1)?.code === null, 15_000);
    expect(problems).toEqual([]);
  });

  it('its twin: refused for its filter, it ends with the problem', async () => {
    const gateway = await startGateway(bank);
    const { problems } = listen(gateway, 'x'.repeat(11));
    await until(() => problems.length === 1);
    expect(problems[0]).toMatchObject({ code: 'invalid-request', status: 400, retryAfterMs: null });
    expect(problems[0]?.requestId).toBe(gateway.events('request')[0]?.['requestId']);
  });

  it('comes to its turn when there are more listeners than may be', async () => {
    const gateway = await startGateway(bank, { MAX_EVENT_STREAMS: '1' });
    const first = listen(gateway);
    await until(() => first.snapshots.length === 1);
    const second = listen(gateway);
    await until(() => second.problems.length === 1);
    expect(second.problems[0]).toMatchObject({ code: 'overloaded', status: 503 });
    expect(second.problems[0]?.retryAfterMs).toBeGreaterThanOrEqual(1000);
  });

  it('leaves no stream behind', async () => {
    const gateway = await startGateway(bank);
    const { snapshots, close } = listen(gateway);
    await until(() => snapshots.length === 1);
    close();
    await until(() => gateway.events('stream.ended').length === 1);
  });
});
