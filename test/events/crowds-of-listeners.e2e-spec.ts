import { afterEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { closeStreams, openStream, type EventStream } from '../support/event-stream.js';
import { listAccounts } from '../support/pretend-bank.js';
import { endPrograms, programEnvironment, startProgram, type Program } from '../support/program.js';
import { cleanUp, makeDirectory } from '../support/sandbox.js';
import { get } from '../support/gateway.js';
import { sampleAccounts } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
afterEach(async () => {
  closeStreams();
  await endPrograms();
  await cleanUp();
});

const LISTENERS = 500;
const EVERY_MS = 2000;
const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;
/** Makes the program collect its garbage and say what it then takes, in MB, when it gets SIGUSR2. */
const TELLS_MEMORY = `process.on('SIGUSR2', () => { gc(); gc(); process.stderr.write(\`\\nrss \${process.memoryUsage.rss() / 1048576} MB\`); })`;
const NODE_FLAGS = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(TELLS_MEMORY)}`];

async function residentMb({ child, stderr }: Program): Promise<number> {
  const told = () => [...stderr().matchAll(/rss ([\d.]+) MB/g)].map(([, text]) => Number(text));
  const { length } = told();
  child.kill('SIGUSR2');
  await until(() => told().length > length);
  return told().at(-1) ?? NaN;
}

/** Waits for the `snapshot` with this number. A busy machine may make the bank slow meanwhile, which is told too. */
const snapshotOf = (stream: EventStream, number: number) =>
  until(() => stream.text.split('event: snapshot').length > number + 1, 20_000);

describe('a crowd of listeners', () => {
  it('500 cost one reading for each period, and 50 MB at most', async () => {
    bank.onAccounts = listAccounts(sampleAccounts(1000));
    const env = programEnvironment(bank, { SNAPSHOT_FRESH_MS: String(EVERY_MS) });
    const program = await startProgram({ env, cwd: makeDirectory(), nodeFlags: NODE_FLAGS });
    const url = await program.started();
    // warm: a few listeners and readings
    const first = await openStream(`${url}/api/v1/events`);
    for (let call = 0; call < 50; call++) await get(`${url}/api/v1/accounts`);
    await until(() => program.events('snapshot.refreshed').length >= 3, 15_000);
    const before = await residentMb(program);
    const filters = ['', '?currency=EUR', '?currency=USD', '?q=operating', '?ownerId=nobody'];
    const streams = await Promise.all(
      Array.from({ length: LISTENERS }, (_, index) => openStream(`${url}/api/v1/events${filters[index % 5]}`)),
    );
    await Promise.all(streams.map((stream) => stream.event(0)));
    const [startedAt, asked] = [performance.now(), lists()];
    // each reading changes 100 accounts, all of which are named
    for (let change = 1; change <= 3; change++) {
      const renamed = sampleAccounts(1000).map((each, index) =>
        index < 100 ? { ...each, friendlyName: `Operating ${change}` } : each,
      );
      bank.onAccounts = listAccounts(renamed);
      await Promise.all(streams.filter((_, index) => index % 5 === 0).map((stream) => snapshotOf(stream, change)));
    }
    const after = await residentMb(program);
    const periods = (performance.now() - startedAt) / EVERY_MS;
    expect(lists() - asked).toBeLessThanOrEqual(periods + 1);
    expect(streams[2]?.events.filter(({ type }) => type === 'snapshot')).toHaveLength(1);
    expect(first.events.length).toBeGreaterThanOrEqual(4);
    expect(after - before).toBeLessThan(50);
  }, 120_000);
});
