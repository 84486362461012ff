import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { listAccounts, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccounts } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

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

describe('a caller who takes a stream slowly', () => {
  it.each(['csv', 'ndjson'])(
    '%s gets all of the list as it was, though it has been read again twice',
    async (format) => {
      const bank = await startPretendBank();
      bank.onAccounts = listAccounts(sampleAccounts(8000));
      const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', LOG_LEVEL: 'info' });
      const whole = await gateway.get(`/api/v1/accounts?format=${format}`);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      request(`${gateway.url}/api/v1/accounts?format=${format}`, { agent: false }, (response) => {
        response.once('readable', async () => {
          bank.onAccounts = listAccounts(sampleAccounts(3));
          for (let reading = 0; reading < 2; reading++) {
            const { json } = await gateway.get('/api/v1/accounts', { 'cache-control': 'max-age=0' });
            expect(json.page.total).toBe(3);
          }
          response.setEncoding('utf8');
          resolve((await response.toArray()).join(''));
        });
      })
        .on('error', reject)
        .end();
      const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z\r$/gm, '');
      expect(withoutTimes(await promise)).toBe(withoutTimes(whole.text));
    },
  );
});
