import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { closeAll } from '../support/closing.js';
import { asked, slowly, startFleet } from '../support/fleet.js';
import { closeGateways } from '../support/gateway.js';
import { closePretendBanks, issueToken, json, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { startRedis } from '../support/redis.js';
import { sampleAccounts } from '../support/sample-accounts.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
  await closeAll();
});

(hasRedis() ? describe : describe.skip)('a fleet', () => {
  it('tries a wrong password once, not once for each instance; SIGHUP ends the waiting', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onToken = (_request, response) => json(response, 401, {});
    const gateways = await startFleet(3, bank, redis);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => gateways[index % 3]?.get('/api/v1/accounts')),
      );
      for (const answer of answers) {
        expect(answer?.json).toMatchObject({ status: 502, code: 'credentials-rejected', owner: 'operator' });
      }
    }
    expect(asked(bank).tokens).toBe(1);
    bank.onToken = (...args) => issueToken(bank)(...args);
    gateways[1].app.get(AppModule).reload();
    await until(async () => (await gateways[1].get('/api/v1/accounts')).status === 200);
    expect(asked(bank).tokens).toBe(2);
    // and the others are told that it went well
    for (const gateway of gateways) await until(async () => (await gateway.get('/api/v1/accounts')).status === 200);
    expect(asked(bank).tokens).toBe(2);
  });

  it('is not made to try a wrong password again and again by one who can write to Redis', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onToken = (_request, response) => json(response, 401, {});
    const [gateway] = await startFleet(1, bank, redis);
    await gateway.get('/api/v1/accounts');
    expect(asked(bank).tokens).toBe(1);
    const name = redis.cli('KEYS', '*:instances').split(':')[1] as string;
    for (let round = 0; round < 5; round += 1) {
      await until(() => !redis.cli('KEYS', '*:lease').includes('lease'));
      redis.cli('DEL', `accounts-gateway:${name}:token:wait`);
      expect(redis.cli('PUBLISH', 'accounts-gateway:announcements', `${name} token done`).trim()).toBe('1');
      await delay(50);
      expect((await gateway.get('/api/v1/accounts')).json.code).toBe('credentials-rejected');
    }
    expect(asked(bank).tokens).toBeLessThanOrEqual(2);
  });

  it('waits together after readings that failed, longer each time', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    const times: number[] = [];
    bank.onAccounts = (_request, response) => {
      times.push(performance.now());
      json(response, 500, {});
    };
    const gateways = await startFleet(3, bank, redis);
    const call = () => Promise.all(gateways.map((gateway) => gateway.get('/api/v1/accounts')));
    for (const { status } of await call()) expect(status).toBe(503);
    const once = asked(bank).readings;
    // the second failure is waited after for 2 s, wherever it happened
    const waits = () =>
      gateways.flatMap((gateway) => gateway.events('snapshot.failed').map((line) => Number(line['retryInMs'])));
    await until(async () => {
      for (const { status } of await call()) expect(status).toBe(503);
      return Math.max(...waits()) > 1500;
    });
    expect(asked(bank).readings).toBe(2 * once);
    // and nobody asked before the first wait of 1 s was over
    expect((times[once] ?? 0) - (times[once - 1] ?? 0)).toBeGreaterThan(990);
  });

  it('renews a token that the bank has revoked once', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    let good = '';
    bank.onToken = (request, response, url) => {
      issueToken(bank)(request, response, url);
      good = bank.tokens.at(-1) as string;
    };
    bank.onAccounts = (request, response, url) => {
      if (request.headers.authorization !== `Bearer ${good}`) json(response, 401, {});
      else listAccounts(sampleAccounts(3))(request, response, url);
    };
    // each reads for itself, so that each meets the revoked one
    const gateways = await startFleet(3, bank, redis, { SNAPSHOT_FRESH_MS: '0' });
    for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(asked(bank).tokens).toBe(1);
    good = 'none';
    for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).json.snapshot.stale).toBe(false);
    expect(asked(bank).tokens).toBe(2);
    // one that is refused at once is not renewed again, by nobody
    bank.onToken = (...args) => {
      issueToken(bank)(...args);
      good = 'none';
    };
    good = 'none';
    for (const gateway of gateways) await gateway.get('/api/v1/accounts');
    expect(asked(bank).tokens).toBeLessThanOrEqual(3);
  });

  it('drops what it holds when access is no longer granted, everywhere', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const gateways = await startFleet(3, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
    for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(asked(bank).readings).toBe(1);
    bank.onAccounts = (_request, response) => json(response, 404, {});
    // what is younger than a second counts as now
    await delay(1100);
    await gateways[0].get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    for (const gateway of gateways) {
      await until(async () => (await gateway.get('/api/v1/accounts')).json.code === 'access-not-granted');
    }
    expect(
      redis
        .cli('KEYS', '*:record')
        .split('\n')
        .filter((key) => key.includes('reading')),
    ).toEqual([]);
  });

  it('is left by those who get a new certificate: two fleets, and no error for callers', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(20);
    const gateways = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '200' });
    const statuses: number[] = [];
    let done = false;
    const traffic = Promise.all(
      gateways.map(async (gateway) => {
        while (!done) statuses.push((await gateway.get('/api/v1/accounts')).status);
      }),
    );
    await until(() => statuses.length > 20, 10_000);
    const { pfx, passcode, thumbprint } = await bank.issueClient('renewed');
    writeFileSync(bank.files.pfx, pfx);
    writeFileSync(bank.files.passcode, passcode);
    const names = () => new Set(redis.cli('KEYS', '*:instances').split('\n').filter(Boolean));
    expect(names().size).toBe(1);
    await until(() => gateways.every((gateway) => gateway.events('certificate.replaced').length === 1), 15_000);
    // a reading that the old one began may still be under way: two by the new one, and from the first on nothing else
    const replacedAt = bank.requests.length;
    const renewed = () => bank.requests.slice(replacedAt).filter((request) => request.thumbprint === thumbprint);
    await until(() => renewed().length >= 2, 10_000);
    done = true;
    await traffic;
    expect(new Set(statuses)).toEqual(new Set([200]));
    await until(() => names().size === 2);
    // each identity had one token, though two instances used it
    expect(asked(bank).tokens).toBe(2);
    const first = bank.requests.indexOf(renewed()[0] as (typeof bank.requests)[number]);
    expect(new Set(bank.requests.slice(first).map((request) => request.thumbprint))).toEqual(new Set([thumbprint]));
  });
});
