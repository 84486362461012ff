import { beforeAll, describe, expect, it } from '@jest/globals';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { startWatched } from '../support/watched-program.js';

/** The part of the bundle with all of sharing, and the client of Redis. */
const SHARING = /\/(start-sharing)-[\w-]+\.js/;

let bank: PretendBank;
beforeAll(async () => {
  bank = await startPretendBank();
  bank.onAccounts = listSample();
});

describe('sharing', () => {
  it('without REDIS_URL and SNAPSHOT_FILE is not loaded, and connects to nobody', async () => {
    const watched = await startWatched(bank);
    expect(watched.loaded(SHARING)).toEqual([]);
    expect(watched.connectedTo()).toEqual([new URL(bank.url).port]);
  });

  it('negative case: with REDIS_URL it is loaded, and connects', async () => {
    const port = String(await closedPort());
    const watched = await startWatched(bank, { REDIS_URL: `redis://127.0.0.1:${port}` });
    expect(watched.loaded(SHARING)).toEqual(['start-sharing']);
    expect(watched.connectedTo()).toContain(port);
  });
});
