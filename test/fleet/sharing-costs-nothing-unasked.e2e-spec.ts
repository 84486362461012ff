import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { closeAll } from '../support/closing.js';
import { closePretendBanks, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { endPrograms } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { startWatched } from '../support/watched-program.js';

const REDIS_CLIENT = /node_modules\/(@redis\/[\w-]+|redis)\//;
const OWN = /\/sharing\/([\w.-]+)\.js/;

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
  bank.onAccounts = listSample();
});
afterEach(async () => {
  await endPrograms();
  await closeAll();
});
afterAll(closePretendBanks);

describe('sharing', () => {
  it('without REDIS_URL and SNAPSHOT_FILE loads no client of Redis, nothing of its own, and connects to nobody', async () => {
    const watched = await startWatched(bank);
    expect(watched.loaded(REDIS_CLIENT)).toEqual([]);
    // what asks whether it is wanted
    expect(watched.loaded(OWN).toSorted()).toEqual(['sharing', 'sharing.module']);
    expect(watched.connectedTo()).toEqual([new URL(bank.url).port]);
  });

  it('its twin: with REDIS_URL it loads them, and connects', async () => {
    const port = String(await closedPort());
    const watched = await startWatched(bank, { REDIS_URL: `redis://127.0.0.1:${port}` });
    expect(watched.loaded(REDIS_CLIENT)).toEqual(['@redis/client']);
    expect(watched.loaded(OWN)).toEqual(expect.arrayContaining(['fleet', 'shared-task', 'redis-link']));
    expect(watched.connectedTo()).toContain(port);
  });
});
