import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../callers.mjs';
import { digits, median } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { memoryOf, ticksOf } from '../machine.mjs';
import { freePort, start, untilReady } from '../processes.mjs';
import { JSON_ONLY, takeResponses } from '../ready-responses.mjs';
import { startNest } from '../rivals.mjs';

/** V8 returns the memory used at startup after a minute or two without activity. */
const IDLE_MS = 150_000;
const cpuOf = (program) => ticksOf(program.pids()) * 10;

/** CPU time from the start to the first response with accounts, and resident memory when idle. */
export async function startUp(bench) {
  const { bank, starts, say } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const samples = [];
  for (let index = 0; index < starts; index++) {
    const gateway = await startGateway(bench);
    await gateway.live();
    const { status } = await get(gateway.accountsUrl, JSON_ONLY);
    if (status !== 200) throw new Error(`the first response is ${status}`);
    const cpu = cpuOf(gateway.program);
    const nest = await startNest({ ...bench, responses: await takeResponses(gateway) });
    samples.push({ cpu, nestCpu: cpuOf(nest) });
    say(`  start ${index + 1} of ${starts}: ${JSON.stringify(samples.at(-1))}`);
    await Promise.all([nest.stop(), gateway.stop()]);
  }
  const middle = (figure) => median(samples.map((sample) => sample[figure]));
  const ratio = median(samples.map(({ cpu, nestCpu }) => cpu / nestCpu));
  say(`  idle for ${IDLE_MS / 1000} s`);
  const [live, withSandbox] = await Promise.all([liveMemory(bench), sandboxMemory(bench)]);
  const memoryGoal = (text, memory, limit) => ({
    goal: `idle resident memory, ${text} ≤ ${limit} MB`,
    measured: `${memory} MB`,
    reached: memory <= limit,
  });
  return {
    goals: [
      {
        goal: 'CPU time from the start to the first accounts response ≤ 1.2 × a bare Nest-on-Fastify app',
        measured: `${digits(ratio, 2)} (${middle('cpu')} ms : ${middle('nestCpu')} ms)`,
        reached: ratio <= 1.2,
      },
      memoryGoal('live', live, 120),
      memoryGoal('with the embedded sandbox', withSandbox, 160),
    ],
    raw: { samples, live, withSandbox },
  };
}

async function liveMemory(bench) {
  const gateway = await startGateway(bench);
  await gateway.settled();
  await delay(IDLE_MS);
  const { now } = memoryOf(gateway.program.pid);
  await gateway.stop();
  return now;
}

async function sandboxMemory({ root, cwd }) {
  const port = await freePort();
  const env = {
    PORT: String(port),
    // fixed ports, not port 0: otherwise the bank could take the port meant for the gateway
    SANDBOX_PORT: String(await freePort()),
    SANDBOX_CONTROL_PORT: String(await freePort()),
    SANDBOX_DIRECTORY: join(cwd, 'embedded'),
  };
  const line = [process.execPath, '--disable-sigusr1', join(root, 'dist/main.js'), 'serve', '--sandbox'];
  const program = start('gateway with sandbox', line, { underTest: true, cwd, env });
  const url = `http://127.0.0.1:${port}/api/v1/accounts`;
  await untilReady(program, () => get(url, JSON_ONLY).then(({ status }) => status === 200));
  await delay(IDLE_MS);
  const { now } = memoryOf(program.pid);
  await program.stop();
  return now;
}
