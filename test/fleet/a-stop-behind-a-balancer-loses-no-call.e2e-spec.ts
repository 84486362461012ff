import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { readDocument } from '../support/documents.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram, type Program } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { HAPROXY, hasHaproxy, hasRedis, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

/** As the profile `fleet` of docker-compose.yml has it. */
const DELAY_MS = Number(/SHUTDOWN_DELAY_MS: '(\d+)'/.exec(readDocument('docker-compose.yml'))?.[1]);

/** config/haproxy/haproxy.cfg with the addresses of this machine in the place of Docker's. */
function toConfiguration(port: number, servers: readonly string[]): string {
  const replacements: readonly [RegExp, string][] = [
    [/^ +bind .*$/m, `    bind 127.0.0.1:${port}`],
    [/^ +server-template .*$/m, servers.map((url, index) => `    server gateway${index + 1} ${url}`).join('\n')],
    [/^resolvers docker\n(?: +.*\n)+/m, ''],
  ];
  return replacements.reduce((text, [from, to]) => {
    expect(text).toMatch(from);
    return text.replace(from, to);
  }, readDocument('config/haproxy/haproxy.cfg'));
}

/** Three instances that share, behind the balancer, each ready. */
async function startBalanced() {
  const [bank, redis] = [await startPretendBank(), await startRedis()];
  bank.onAccounts = listSample();
  const env = { ...redis.env, SHUTDOWN_DELAY_MS: String(DELAY_MS), SNAPSHOT_FRESH_MS: '60000', LOG_LEVEL: 'info' };
  const start = () => startProgram({ cwd: temporaryDirectory(), env: programEnvironment(bank, env) });
  const programs = (await Promise.all([start(), start(), start()])) as [Program, Program, Program];
  const urls = await Promise.all(programs.map((program) => program.started()));
  const port = await closedPort();
  const file = join(temporaryDirectory(), 'haproxy.cfg');
  writeFileSync(
    file,
    toConfiguration(
      port,
      urls.map((url) => new URL(url).host),
    ),
  );
  await until(() => programs.every((program) => program.events('snapshot.refreshed').length > 0), 15_000);
  const { output } = await startTool(HAPROXY, ['-db', '-f', file], port);
  const count = (pattern: RegExp) => output().match(pattern)?.length ?? 0;
  const answeredBy = (instance: number) => count(new RegExp(`gateways/gateway${instance} \\S+ 200 `, 'g'));
  return {
    bank,
    programs,
    url: `http://127.0.0.1:${port}/api/v1/accounts`,
    /** How many calls each instance has answered, by the balancer's log. */
    answered: (): [number, number, number] => [answeredBy(1), answeredBy(2), answeredBy(3)],
    /** How many calls were sent once more; the last of five counters in a line of the balancer's log. */
    secondTries: () => count(/ \d+(?:\/\d+){3}\/\+?[1-9]\d* \d+\/\d+ "/g),
  };
}

/** Callers on kept connections and on new ones, one every 5 ms, until `stop`, which gives what each of them got. */
function startCallers(url: string) {
  const kept = new Agent({ keepAlive: true, maxSockets: 8 });
  const got: Promise<number | string>[] = [];
  const call = (agent: Agent | false) => {
    const { promise, resolve } = Promise.withResolvers<number | string>();
    request(url, { agent }, (response) => {
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', ({ message }) => resolve(message));
      response.resume();
    })
      .once('error', ({ message }) => resolve(message))
      .end();
    return promise;
  };
  const timer = setInterval(() => got.push(call(got.length % 2 === 0 && kept)), 5);
  return {
    stop: async () => {
      clearInterval(timer);
      return Promise.all(got).finally(() => kept.destroy());
    },
  };
}

const describeHere = hasHaproxy() && hasRedis() ? describe : describe.skip;

describeHere('behind haproxy, by the configuration of config/haproxy', () => {
  it('three instances share the calls; one that stops, or is killed, costs callers nothing', async () => {
    const { programs, url, answered, secondTries } = await startBalanced();
    const [first, second, third] = programs;
    const callers = startCallers(url);
    await until(() => answered().every((calls) => calls >= 20), 10_000);

    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
    const atStop = answered();
    await until(() => answered()[1] > atStop[1] + 20 && answered()[2] > atStop[2] + 20);
    expect(answered()[0]).toBe(atStop[0]);
    // its delay was long enough: nothing was sent to it that it did not answer
    expect(secondTries()).toBe(0);

    second.child.kill('SIGKILL');
    await until(() => secondTries() > 0 && answered()[2] > atStop[2] + 200);
    const got = await callers.stop();
    expect(got.length).toBeGreaterThan(100);
    expect(got.filter((each) => each !== 200)).toEqual([]);

    // negative case: what callers get when none is left shows here
    third.child.kill('SIGKILL');
    await third.exit;
    const afterwards = startCallers(url);
    await delay(100);
    expect(new Set(await afterwards.stop())).toEqual(new Set([503]));
  }, 60_000);
});
