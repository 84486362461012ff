import { request } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeGateways, startGateway } from '../support/gateway.js';
import { closePretendBanks, listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccounts } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
});

/** Reads the first bytes and goes. */
function leaveEarly(url: string, headers: Record<string, string>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(url, { agent: false, headers }, (response) => {
    response.once('data', () => {
      response.destroy();
      resolve();
    });
    response.on('error', () => undefined);
  })
    .on('error', reject)
    .end();
  return promise;
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
const compressors = () => process.getActiveResourcesInfo().filter((name) => name === 'Zlib').length;

describe('a caller who leaves in the middle of a stream', () => {
  it.each([
    ['csv', {}],
    ['ndjson', {}],
    ['csv', { 'accept-encoding': 'gzip' }],
    ['ndjson', { 'accept-encoding': 'br' }],
  ])('%s %j leaves nothing behind', async (format, headers) => {
    const bank = await startPretendBank();
    bank.onAccounts = listAccounts(sampleAccounts(8000));
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000', LOG_LEVEL: 'info' });
    const url = `${gateway.url}/api/v1/accounts?format=${format}`;
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(8000);
    const connections = () =>
      new Promise<number>((resolve) =>
        gateway.app.getHttpServer().getConnections((_error: unknown, count: number) => resolve(count)),
      );
    await leaveEarly(url, headers);
    await until(async () => (await connections()) === 0);
    const [timersBefore, compressorsBefore] = [timers(), compressors()];
    await Promise.all(Array.from({ length: 20 }, () => leaveEarly(url, headers)));
    await until(async () => (await connections()) === 0);
    await until(() => timers() <= timersBefore + 2 && compressors() <= compressorsBefore);
    expect(gateway.lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    // its twin, who stays, gets all
    const all = await gateway.get(`/api/v1/accounts?format=${format}`);
    expect(all.text.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 8001 : 8000);
  });
});
