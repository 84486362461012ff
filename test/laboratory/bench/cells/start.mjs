import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../callers.mjs';
import { digits, median } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { memoryOf, ticksOf } from '../machine.mjs';
import { freePort, start, untilReady } from '../processes.mjs';
import { JSON_ONLY, takeAnswers } from '../ready-answers.mjs';
import { startReady } from '../rivals.mjs';

const IDLE_MS = 3000;
const cpuOf = (program) => ticksOf(program.pids()) * 10;

/** CPU time from the start to the first accounts answer, and resident memory of an idle process. */
export async function startUp(bench) {
  const { bank, starts, say } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const samples = [];
  for (let index = 0; index < starts; index++) {
    const gateway = await startGateway(bench);
    await gateway.live();
    const { status } = await get(gateway.accountsUrl, JSON_ONLY);
    if (status !== 200) throw new Error(`the first answer is ${status}`);
    const cpu = cpuOf(gateway.program);
    await delay(IDLE_MS);
    const memory = memoryOf(gateway.program.pid).now;
    const [nest] = await startReady({ ...bench, answers: await takeAnswers(gateway), only: 'nest' });
    samples.push({ cpu, memory, nestCpu: cpuOf(nest), sandboxMemory: await sandboxMemory(bench) });
    say(`  start ${index + 1} of ${starts}: ${JSON.stringify(samples.at(-1))}`);
    await Promise.all([nest.stop(), gateway.stop()]);
  }
  const middle = (figure) => median(samples.map((sample) => sample[figure]));
  const ratio = median(samples.map(({ cpu, nestCpu }) => cpu / nestCpu));
  const memoryGoal = (text, figure, limit) => ({
    goal: `idle resident memory, ${text} ≤ ${limit} MB`,
    measured: `${middle(figure)} MB`,
    reached: middle(figure) <= limit,
  });
  return {
    goals: [
      {
        goal: 'CPU time from the start to the first accounts answer ≤ 2.5 × a bare Nest-on-Fastify app',
        measured: `${digits(ratio, 2)} (${middle('cpu')} ms : ${middle('nestCpu')} ms)`,
        reached: ratio <= 2.5,
      },
      memoryGoal('live', 'memory', 120),
      memoryGoal('with the embedded sandbox', 'sandboxMemory', 160),
    ],
    raw: samples,
  };
}

async function sandboxMemory({ root, cwd }) {
  const port = await freePort();
  const env = {
    PORT: String(port),
    // not any free ones: the gateway's is still free when the bank takes its own
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
