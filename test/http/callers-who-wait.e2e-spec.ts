import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import { holdAccounts } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { call, startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { sampleId } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasHaproxy, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

const LIST = '/api/v1/accounts';
const PATHS = [LIST, `${LIST}?format=csv`, `${LIST}?format=ndjson`, `${LIST}/${sampleId(1)}`, '/api/v1/balances'];
const CHUNKED = { 'transfer-encoding': 'chunked' };

/** A gateway without a snapshot, whose bank answers when the test allows it. */
async function startWaiting() {
  const bank = await startPretendBank();
  const letGo = holdAccounts(bank);
  const gateway = await startGateway(bank, { BANK_REQUEST_TIMEOUT_MS: '60000', REQUEST_DEADLINE_MS: '60000' });
  const untilWaiting = (callers: number) =>
    until(() => {
      expect(gateway.events('request')).toEqual([]);
      return gateway.app.get(SnapshotService).status().callersWaiting === callers;
    });
  return { gateway, letGo, untilWaiting };
}

it('a request body changes nothing for a caller who waits for the bank', async () => {
  const { gateway, letGo, untilWaiting } = await startWaiting();
  const bodies = [
    { headers: CHUNKED, body: '' },
    { headers: CHUNKED, body: 'abc' },
    { headers: { 'content-length': '3' }, body: 'abc' },
  ];
  const calls = PATHS.flatMap((path) => bodies.map((body) => call(`${gateway.url}${path}`, body)));
  await untilWaiting(calls.length);
  letGo();
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200));
});

(hasHaproxy() ? it : it.skip)(
  'the chunks that haproxy makes of HTTP/2 change nothing for a caller who waits for the bank',
  async () => {
    const { gateway, letGo, untilWaiting } = await startWaiting();
    const port = await closedPort();
    const file = join(temporaryDirectory(), 'haproxy.cfg');
    const limits = ['connect', 'client', 'server'].map((which) => `  timeout ${which} 60s\n`).join('');
    const listen = `listen web\n  bind 127.0.0.1:${port} proto h2\n  server one 127.0.0.1:${gateway.port}\n`;
    writeFileSync(file, `defaults\n  mode http\n${limits}${listen}`);
    await startTool('haproxy', ['-db', '-f', file], port);
    const session = connect(`http://127.0.0.1:${port}`);
    try {
      const streams = PATHS.map((path) =>
        session.request({ ':path': path, ':authority': 'localhost' }, { endStream: false }),
      );
      const answers = streams.map(async (stream) => {
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
        stream.resume();
        return headers[':status'];
      });
      // the end comes in a frame after the header
      for (const stream of streams) stream.end();
      await untilWaiting(PATHS.length);
      letGo();
      expect(await Promise.all(answers)).toEqual(PATHS.map(() => 200));
    } finally {
      // before haproxy ends, which would reset it
      await new Promise<void>((resolve) => session.close(resolve));
    }
  },
);
