import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { readDocument } from '../support/documents.js';
import { call } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasHaproxy, hasRedis, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

/** The settings of the profile `fleet` in docker-compose.yml. */
const DELAY_MS = /SHUTDOWN_DELAY_MS: '(\d+)'/.exec(readDocument('docker-compose.yml'))?.[1] ?? '';

/** config/haproxy/haproxy.cfg with addresses of this machine instead of Docker's. */
function toConfiguration(port: number, servers: readonly string[]): string {
  const replacements: readonly [RegExp, string][] = [
    [/^ +bind .*$/m, `    bind 127.0.0.1:${port}`],
    [/^ +server-template .*$/m, servers.map((host, index) => `    server gateway${index + 1} ${host}`).join('\n')],
    [/^resolvers docker\n(?: +.*\n)+/m, ''],
  ];
  return replacements.reduce((text, [from, to]) => {
    expect(text).toMatch(from);
    return text.replace(from, to);
  }, readDocument('config/haproxy/haproxy.cfg'));
}

/** Calls on kept and on new connections, one every 20 ms, until `stop`, which returns the result of each. */
function startCallers(url: string) {
  const kept = new Agent({ keepAlive: true, maxSockets: 8 });
  const got: Promise<number | string>[] = [];
  const timer = setInterval(() => {
    const agent = got.length % 2 === 0 && kept;
    got.push(call(url, { agent }).then(({ status }) => status, String));
  }, 20);
  return async () => {
    clearInterval(timer);
    return Promise.all(got).finally(() => kept.destroy());
  };
}

(hasHaproxy() && hasRedis() ? it : it.skip)(
  'behind haproxy with config/haproxy, an instance that stops or is killed costs no caller an error',
  async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = listSample();
    const env = { ...redis.env, SHUTDOWN_DELAY_MS: DELAY_MS, SNAPSHOT_FRESH_MS: '60000', LOG_LEVEL: 'info' };
    const start = () => startProgram({ cwd: temporaryDirectory(), env: programEnvironment(bank, env) });
    const programs = await Promise.all([start(), start(), start()]);
    const urls = await Promise.all(programs.map((program) => program.started()));
    await until(() => programs.every((program) => program.events('snapshot.refreshed').length > 0));
    const port = await closedPort();
    const file = join(temporaryDirectory(), 'haproxy.cfg');
    const hosts = urls.map((url) => new URL(url).host);
    writeFileSync(file, toConfiguration(port, hosts));
    const { output } = await startTool('haproxy', ['-db', '-f', file], port);
    const answered = (instance: number) =>
      output().match(new RegExp(`gateways/gateway${instance} \\S+ 200 `, 'g'))?.length ?? 0;

    const stop = startCallers(`http://127.0.0.1:${port}/api/v1/accounts`);
    await until(() => [1, 2, 3].every((instance) => answered(instance) >= 5));
    programs[0]?.child.kill('SIGTERM');
    expect(await programs[0]?.exit).toBe(0);
    const atStop = answered(2);
    await until(() => answered(2) > atStop + 5);
    programs[1]?.child.kill('SIGKILL');
    const atKill = answered(3);
    await until(() => answered(3) > atKill + 50);
    expect(new Set(await stop())).toEqual(new Set([200]));
  },
);
