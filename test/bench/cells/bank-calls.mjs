import { openConnections, steady } from '../callers.mjs';
import { startGateway } from '../gateway.mjs';
import { JSON_ONLY } from '../ready-answers.mjs';

const REQUESTS = 1000;

/**
 * How often the bank is asked for 1 000 callers spread evenly over 60 s. Unless `long`, ten times as fast (`quick`:
 * twenty), with SNAPSHOT_FRESH_MS made shorter likewise.
 */
export async function bankCalls(bench) {
  const { bank, long, quick, say } = bench;
  const faster = long ? 1 : quick ? 20 : 10;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const gateway = await startGateway({ ...bench, settings: { SNAPSHOT_FRESH_MS: String(10_000 / faster) } });
  await gateway.live();
  // on a path that asks the bank nothing
  const agent = await openConnections(`${gateway.url}/health/live`, 8);
  const since = new Date().toISOString();
  say(`  ${60 / faster} s`);
  const results = await steady(gateway.accountsUrl, {
    everyMs: 60_000 / faster / REQUESTS,
    count: REQUESTS,
    headers: JSON_ONLY,
    agent,
  });
  agent.destroy();
  const wrong = results.find(({ status }) => status !== 200);
  if (wrong) throw new Error(`bank calls: a caller got ${wrong.status}`);
  const { requests } = await bank.state();
  await gateway.stop();
  const asked = requests.filter(({ at, endpoint }) => endpoint === 'accounts' && at >= since);
  const readings = asked.length;
  const lateMs = Math.max(...results.map(({ lateMs }) => lateMs));
  const scale = faster === 1 ? 'over 60 s' : `over 60 s (run in ${60 / faster} s, fresh for ${10 / faster} s)`;
  return {
    goals: [
      {
        goal: `bank calls for ${REQUESTS} requests spread ${scale}: ≤ 6 readings`,
        measured: `${readings} readings`,
        reached: readings <= 6,
        // callers who come late spread over more time than the goal has
        disturbed: lateMs > 3000 / faster,
      },
    ],
    raw: { readings, faster, asked, lateMs },
  };
}
