import { digits, median, toTable, whole } from '../figures.mjs';

const SHARED_ACCOUNTS = 10_000;
/** As the default has it. */
const SETTINGS = { freshMs: 10_000, maxAgeMs: 300_000 };

/** From one instance into Redis, and from there into another: both within this process, so that the CPU time is theirs. */
export async function sharingCost(bench, redis, instances) {
  const { bank, quick, say } = bench;
  const rounds = quick ? 3 : 7;
  const bytes = await instances.toSnapshotBytes(bank, SHARED_ACCOUNTS);
  await redis.empty();
  const { clock, Snapshot, FleetReadings, READING, toFleet, createMaterial } = instances;
  const material = createMaterial();
  const fleets = [await toFleet(redis.url), await toFleet(redis.url)];
  const toRead = () => ({
    snapshot: new Snapshot(bytes.slice(0), { askedAt: clock.now(), durationMs: 0 }),
    pages: 1,
  });
  let next = toRead();
  const share = (each) =>
    new FleetReadings(each, SETTINGS).share(
      async () => next,
      () => material,
    );
  const [from, to] = fleets.map(share);
  const none = AbortSignal.timeout(300_000);
  const stores = [];
  const takes = [];
  for (let round = 0; round < rounds + 1; round++) {
    next = toRead();
    stores.push(
      await timed(async () => {
        // nothing that is there will do: it is made and stored
        await from('from', none);
        await fleets[0].taskOf(material, READING).task.leave();
      }),
    );
    takes.push(
      await timed(async () => {
        const { source } = await to('to', none, { maxAgeMs: () => 60_000, maxBegunMs: 0 });
        if (source !== 'shared') throw new Error('fleet: what was stored was not taken');
      }),
    );
  }
  for (const each of fleets) await each.close();
  // garbage of one is collected during the other, now and then
  const both = stores.map(({ ms, cpuMs }, round) => ({ ms: ms + takes[round].ms, cpuMs: cpuMs + takes[round].cpuMs }));
  const middle = (all) => {
    const warm = all.slice(1);
    return { cpuMs: median(warm.map(({ cpuMs }) => cpuMs)), ms: median(warm.map(({ ms }) => ms)) };
  };
  const parts = { storing: middle(stores), taking: middle(takes), both: middle(both) };
  say(`  ${SHARED_ACCOUNTS} accounts: stored and taken in ${parts.both.cpuMs.toFixed(0)} ms of CPU`);
  return {
    table: [
      `Fleet: sharing ${whole(SHARED_ACCOUNTS)} accounts (${digits(bytes.byteLength / 1e6, 1)} MB), median of ${rounds}`,
      toTable(
        ['', 'CPU', 'time'],
        Object.entries(parts).map(([name, { cpuMs, ms }]) => [name, `${whole(cpuMs)} ms`, `${whole(ms)} ms`]),
      ),
    ],
    raw: { stores, takes },
  };
}

async function timed(work) {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
}
