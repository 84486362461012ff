import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { has, start } from './processes.mjs';

const REPORT = fileURLToPath(new URL('wrk-report.lua', import.meta.url));

/** Creates the load generator. @throws Error if wrk is not installed */
export function createGenerator(cwd) {
  if (!has('wrk')) throw new Error('the bench needs wrk: apt-get install wrk');
  return { run: (url, load) => runWrk(url, { ...load, cwd }) };
}

/**
 * @typedef {object} Load
 * @property {number} requests total number of responses
 * @property {number} perSecond responses per second
 * @property {number} bytes average size of a response, head and body
 * @property {number} errors statuses from 400, timeouts, broken connections
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 */

/** @returns {Promise<Load>} */
async function runWrk(url, { connections, seconds, headers, cwd }) {
  const threads = availableParallelism() > 2 ? 2 : 1;
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', REPORT, ...named, url];
  const wrk = start('wrk', ['wrk', ...args], { cwd, stdout: 'pipe' });
  let text = '';
  for await (const chunk of wrk.child.stdout) text += chunk;
  const line = text.split('\n').find((candidate) => candidate.startsWith('{'));
  if (!line) throw new Error(`wrk returned no results for ${url}: ${text}${wrk.complaint()}`);
  const { requests, microseconds, bytes, errors, p50, p99 } = JSON.parse(line);
  return {
    requests,
    perSecond: requests / (microseconds / 1e6),
    bytes: bytes / requests,
    errors,
    p50: p50 / 1000,
    p99: p99 / 1000,
  };
}
