import { get } from '../callers.mjs';
import { median } from '../figures.mjs';
import { DISTURBING, ticksOf, watchOthers } from '../processes.mjs';

/**
 * One question asked of several servers in turn, round after round; each round begins with another one. An answer is
 * checked before it is measured; the bytes of all answers under load must agree with the checked one.
 *
 * @param contenders each `{ name, url, headers, pids, check(answer) }`; `check` throws at a wrong answer
 */
export async function sideBySide(contenders, { generator, rounds, seconds, warmUpSeconds, connections, say }) {
  const results = new Map(contenders.map(({ name }) => [name, []]));
  for (const { url, headers } of contenders) await generator.run(url, { connections, seconds: warmUpSeconds, headers });
  for (let round = 0; round < rounds; round++) {
    const order = contenders.map((_, index) => contenders[(index + round) % contenders.length]);
    for (const { name, url, headers, pids, check } of order) {
      const answer = await get(url, headers);
      check(answer);
      const before = ticksOf(pids());
      const others = watchOthers();
      const load = await generator.run(url, { connections, seconds, headers });
      const ticks = ticksOf(pids()) - before;
      assertSame(name, answer, load);
      results.get(name).push({
        ...load,
        bodyBytes: answer.body.length,
        // null where there is no /proc
        cpuMicroseconds: ticks === 0 ? null : (ticks * 10_000) / (load.perSecond * seconds),
        busy: ticks === 0 ? null : ticks / (100 * seconds),
        others: others(),
      });
      say(`  round ${round + 1}  ${name}: ${Math.round(load.perSecond)}/s`);
    }
  }
  return results;
}

function assertSame(name, answer, { bytes, errors }) {
  if (errors > 0) throw new Error(`${name}: ${errors} errors under load`);
  const head = answer.rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 19);
  const checked = head + answer.body.length;
  // a kept connection has a header or two that a closed one has not, and ages grow
  if (Math.abs(bytes - checked) > checked * 0.02 + 80)
    throw new Error(`${name}: answers of ${Math.round(bytes)} bytes under load, ${checked} when it was checked`);
}

/** How many times a rival's answers a second another server gives, compared round by round, and the middle of that. */
export function ratio(results, name, rival) {
  const [ours, theirs] = [results.get(name), results.get(rival)];
  if (!ours || !theirs) return null;
  return median(ours.map((load, round) => load.perSecond / theirs[round].perSecond));
}

/** The same by CPU time for each answer, which says more where the load generator or other programs were the limit. */
export function cpuRatio(results, name, rival) {
  const [ours, theirs] = [results.get(name), results.get(rival)];
  if (!ours || !theirs || ours[0].cpuMicroseconds === null) return null;
  return median(ours.map((load, round) => theirs[round].cpuMicroseconds / load.cpuMicroseconds));
}

/** Whether other programs took so much of the machine that answers a second say little. */
export const isDisturbed = (results, name) => median(results.get(name).map(({ others }) => others ?? 0)) > DISTURBING;
