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
import { hasHaproxy, hasNginx, hasRedis, startTool } from '../support/tools.js';
import { until } from '../support/until.js';

/** The settings of profile `fleet` in docker-compose.yml. */
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

/** config/nginx/accounts-gateway.conf without TLS, including its second server, and with its allowed callers. */
function toNginx(port: number, servers: readonly string[], allowed: string): string {
  const directory = temporaryDirectory();
  const conf = readDocument('config/nginx/accounts-gateway.conf')
    .replace('127.0.0.1:3000', servers[0] ?? '')
    .replace('# server 127.0.0.1:3001', `server ${servers[1]}`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/ +ssl_certificate.*\n/g, '')
    .replace('allow 10.1.0.0/16;', `allow ${allowed};`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  const file = join(directory, 'nginx.conf');
  const head = `daemon off; master_process off; pid ${join(directory, 'pid')}; error_log ${join(directory, 'error.log')};`;
  writeFileSync(file, `${head}\nevents {}\nhttp { access_log off; ${paths.join(' ')}\n${conf}}\n`);
  return file;
}

/** Makes calls on kept and on new connections, one every 20 ms, until `stop`, which returns the result of each. */
function startCallers(url: string, headers: Record<string, string> = {}) {
  const kept = new Agent({ keepAlive: true, maxSockets: 8 });
  const got: Promise<number | string>[] = [];
  const timer = setInterval(() => {
    const agent = got.length % 2 === 0 && kept;
    got.push(call(url, { agent, headers }).then(({ status }) => status, String));
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

(hasNginx() ? it : it.skip)(
  'behind nginx with config/nginx and two servers, restarts one after the other cost no caller an error, and unlisted clients get 403',
  async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample();
    const ports = [await closedPort(), await closedPort()] as const;
    const env = { SNAPSHOT_FRESH_MS: '60000', LOG_LEVEL: 'info', ALLOWED_HOSTS: 'accounts.internal.example' };
    const start = async (port: number) => {
      const program = await startProgram({
        cwd: temporaryDirectory(),
        env: programEnvironment(bank, { ...env, PORT: String(port) }),
      });
      await program.started();
      await until(() => program.events('snapshot.refreshed').length > 0);
      return program;
    };
    const programs = [await start(ports[0]), await start(ports[1])];
    const servers = ports.map((port) => `127.0.0.1:${port}`);
    const serve = async (allowed: string) => {
      const port = await closedPort();
      const file = toNginx(port, servers, allowed);
      await startTool('nginx', ['-c', file, '-e', `${file}.log`], port);
      return `http://127.0.0.1:${port}`;
    };
    const headers = { host: 'accounts.internal.example' };
    const stranger = await serve('10.1.0.0/16');
    for (const path of ['/api/v1/accounts', '/metrics', '/health']) {
      expect((await call(`${stranger}${path}`, { headers })).status).toBe(403);
    }

    const stop = startCallers(`${await serve('127.0.0.1')}/api/v1/accounts`, headers);
    for (const [index, port] of ports.entries()) {
      programs[index]?.child.kill('SIGTERM');
      expect(await programs[index]?.exit).toBe(0);
      programs[index] = await start(port);
    }
    const got = await stop();
    expect(got.length).toBeGreaterThan(20);
    expect(new Set(got)).toEqual(new Set([200]));
  },
);
