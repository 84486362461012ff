import { get } from '../callers.mjs';
import { digits, median, toTable, whole } from '../figures.mjs';
import { DISTURBING, ticksOf, watchOthers } from '../machine.mjs';

/**
 * One question asked of several servers in turn, round after round; each round begins with another one. An answer is
 * checked before it is measured; the bytes of all answers under load must agree with the checked one.
 *
 * @param contenders each `{ name, url, headers, pids, check(answer), context }`; `check` throws at a wrong answer; one that
 *   is there for `context` takes part in every other round only
 * @returns {Promise<Map<string, object[]>>} by name, the loads by round
 */
export async function sideBySide(contenders, { generator, rounds, seconds, warmUpSeconds, connections, say }) {
  const results = new Map(contenders.map(({ name }) => [name, []]));
  for (const { url, headers } of contenders) await generator.run(url, { connections, seconds: warmUpSeconds, headers });
  for (let round = 0; round < rounds; round++) {
    const order = contenders.map((_, index) => contenders[(index + round) % contenders.length]);
    for (const { name, url, headers, pids, check, context } of order) {
      if (context && round % 2 === 1) continue;
      const answer = await get(url, headers);
      check(answer);
      const before = ticksOf(pids());
      const others = watchOthers();
      const load = await generator.run(url, { connections, seconds, headers });
      const ticks = ticksOf(pids()) - before;
      assertSame(name, answer, load);
      results.get(name)[round] = {
        ...load,
        bodyBytes: answer.body.length,
        // null where there is no /proc
        cpuMicroseconds: ticks === 0 ? null : (ticks * 10_000) / (load.perSecond * seconds),
        busy: ticks === 0 ? null : ticks / (100 * seconds),
        ...others(),
      };
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

/** A figure of one server as a multiple of a rival's, compared round by round, and the middle of that; null without. */
function ratio(results, figure, name, rival) {
  const [ours, theirs] = [results.get(name), results.get(rival)];
  const both = ours?.flatMap((load, round) => (theirs?.[round] ? [[load[figure], theirs[round][figure]]] : [])) ?? [];
  if (both.length === 0 || both.flat().includes(null)) return null;
  return median(both.map(([mine, other]) => mine / other));
}

const of = (results, name, figure) => results.get(name).flatMap((load) => load[figure]);

/** Whether other programs took so much of the machine that answers a second say little. */
const isDisturbed = (results, name) => median(of(results, name, 'others').map((share) => share ?? 0)) > DISTURBING;

const MISSING = { measured: 'not measured: the rival is missing', reached: null };

/** A goal: the answers a second of `name` are at least `limit` times those of `rival`. */
export function atLeast(goal, limit, results, name, rival) {
  const measured = ratio(results, 'perSecond', name, rival);
  if (measured === null) return { goal, ...MISSING };
  // says more where the load generator or other programs were the limit
  const byCpu = ratio(results, 'cpuMicroseconds', rival, name);
  return {
    goal,
    measured: `${digits(measured, 2)}${byCpu === null ? '' : ` (by CPU time ${digits(byCpu, 2)})`}`,
    reached: measured >= limit,
    disturbed: isDisturbed(results, name) || isDisturbed(results, rival),
  };
}

/** A goal: the p99 of `name` is at most `limit` times that of `rival`. */
export function p99AtMost(goal, limit, results, name, rival) {
  const measured = ratio(results, 'p99', name, rival);
  if (measured === null) return { goal, ...MISSING };
  return {
    goal,
    measured: digits(measured, 2),
    reached: measured <= limit,
    disturbed: isDisturbed(results, name) || isDisturbed(results, rival),
  };
}

const HEAD =
  'server, answers/s, lowest–highest, gateway is, p50 ms, p99 ms, CPU µs each, its core, body bytes, others'.split(
    ', ',
  );

/** The loads as a table, with what `gateway` is of each. */
export function toLoadTable(results, gateway) {
  const rows = [...results.keys()].map((name) => {
    const middle = (figure, show) => {
      const values = of(results, name, figure);
      return values.includes(null) ? '–' : show(median(values));
    };
    const percent = (share) => `${Math.round(share * 100)} %`;
    const speeds = of(results, name, 'perSecond');
    return [
      name,
      whole(median(speeds)),
      `${whole(Math.min(...speeds))}–${whole(Math.max(...speeds))}`,
      name === gateway ? '' : `${digits(ratio(results, 'perSecond', gateway, name), 2)} ×`,
      middle('p50', (ms) => digits(ms, 2)),
      middle('p99', (ms) => digits(ms, 2)),
      middle('cpuMicroseconds', (us) => digits(us, 1)),
      middle('busy', percent),
      middle('bodyBytes', whole),
      middle('others', percent),
    ];
  });
  return toTable(HEAD, rows);
}
