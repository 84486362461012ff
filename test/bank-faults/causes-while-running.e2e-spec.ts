import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { bankForFile } from '../support/bank-for-file.js';
import { keepCauses, type Expected } from '../support/cause-table.js';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { examineWith } from '../support/examination.js';
import { get, startGateway, toEnvironment, type Answer, type Gateway, type LogLine } from '../support/gateway.js';
import { LONGEST_WAIT_MS, MovedClock } from '../support/moved-clock.js';
import { issueToken, json, listAccounts } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { listSample, sampleAccounts } from '../support/sample-accounts.js';
import { scrape } from '../support/scrape.js';
import { startRawServer } from '../support/servers.js';
import { canMountDisk, hasRedis, pathOf } from '../support/tools.js';
import { until } from '../support/until.js';

// A running gateway's reports about each cause: to apps, in /health, in the log, by the doctor and by the alerts.
// causes-at-start.e2e-spec.ts has the causes that break the path to the bank. `npm run causes` prints the table.

const bank = await bankForFile();
const { keep, checkAlerts } = keepCauses();

interface Scene {
  readonly gateway: Gateway;
  readonly clock: MovedClock;
}

/** The settings of a gateway, and an event. `provoke` resolves once the event has happened. */
interface Arranged {
  readonly env?: Record<string, string>;
  provoke?(scene: Scene): unknown;
}

interface Row extends Partial<Expected> {
  readonly cause: string;
  readonly arrange: (clock: MovedClock) => Arranged | Promise<Arranged>;
  /** True if the cause breaks the path to the bank: apps get the copy, then the error. */
  readonly fails?: true;
}

const dayMs = 86_400_000;
const FRESH_MS = 11_000;

/** The gateway's copies of these files, which the test replaces. */
function ownFiles<Name extends 'pfx' | 'passcode' | 'password'>(...names: Name[]): Record<Name, string> {
  const directory = temporaryDirectory();
  const copies = names.map((name) => {
    const copy = join(directory, name);
    copyFileSync(bank.files[name], copy);
    return [name, copy] as const;
  });
  return Object.fromEntries(copies) as Record<Name, string>;
}

const rejected = ({ gateway }: Scene, what: 'certificate' | 'credentials' = 'certificate') =>
  until(() => gateway.events(`${what}.refused`).length > 0);

/** The network in front of the bank. From `provoke` on, it resets open connections, and new ones during the handshake. */
async function resetting(): Promise<Arranged> {
  let broken = false;
  const server = await startRawServer((socket) => {
    if (broken) return void socket.once('data', () => socket.resetAndDestroy());
    const far = connect(Number(new URL(bank.url).port), '127.0.0.1').on('error', () => undefined);
    return void socket.pipe(far).pipe(socket);
  });
  const url = `https://127.0.0.1:${server.port}`;
  return {
    env: { BANK_BASE_URL: url, BANK_AUTH_URL: url },
    provoke: () => {
      broken = true;
      for (const socket of server.sockets) socket.resetAndDestroy();
    },
  };
}

function otherPasscode(): Arranged {
  const { pfx, passcode } = ownFiles('pfx', 'passcode');
  return {
    env: { BANK_PFX_FILE: pfx, BANK_PFX_PASSCODE_FILE: passcode },
    provoke: async (scene) => {
      writeFileSync(pfx, (await bank.issueClient('renewed')).pfx);
      await rejected(scene);
    },
  };
}

function otherPassword(): Arranged {
  const { password } = ownFiles('password');
  return {
    env: { BANK_PASSWORD_FILE: password },
    provoke: async (scene) => {
      const right = issueToken(bank);
      const wrong = Buffer.from(`${bank.username}:wrong`).toString('base64');
      bank.onToken = (request, response, url) => {
        if (request.headers.authorization === `Basic ${wrong}`) json(response, 401, {});
        else right(request, response, url);
      };
      writeFileSync(password, 'wrong');
      await rejected(scene, 'credentials');
    },
  };
}

/** The handler of the account list from `provoke` on. */
const listing = (accounts: readonly object[]) => (): Arranged => ({
  provoke: () => void (bank.onAccounts = listAccounts(accounts)),
});

async function withoutRedis(): Promise<Arranged> {
  const redis = await startRedis();
  return {
    env: redis.env,
    provoke: async ({ gateway, clock }) => {
      redis.signal('SIGKILL');
      clock.moveMonotonic(FRESH_MS);
      await gateway.get('/api/v1/accounts');
      await until(() => gateway.events('sharing.unavailable').length > 0);
    },
  };
}

/** A disk of 64 KB that is full from `provoke` on. */
function fullDisk(): Arranged {
  const disk = join(temporaryDirectory(), 'disk');
  mkdirSync(disk);
  execFileSync(pathOf('mount'), ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  onClose(() => void execFileSync(pathOf('umount'), [disk]));
  return {
    env: { SNAPSHOT_FILE: join(disk, 'snapshot') },
    provoke: async ({ gateway, clock }) => {
      expect(() => writeFileSync(join(disk, 'other'), Buffer.alloc(131_072))).toThrow('ENOSPC');
      clock.moveMonotonic(FRESH_MS);
      await gateway.get('/api/v1/accounts');
      await until(() => gateway.events('sharing.unavailable').length > 0);
    },
  };
}

async function endingIn(days: number): Promise<Arranged> {
  const notAfter = new Date(Date.now() + days * dayMs + 3_600_000);
  const { pfx, passcode } = await bank.issueClient('ending', { notBefore: new Date(Date.now() - dayMs), notAfter });
  const file = join(temporaryDirectory(), 'client.pfx');
  writeFileSync(file, pfx);
  return { env: { BANK_PFX_FILE: file, BANK_PFX_PASSCODE: passcode, BANK_PFX_PASSCODE_FILE: '' } };
}

const ROWS: readonly Row[] = [
  {
    cause: 'reset while running',
    arrange: resetting,
    fails: true,
    code: 'bank-unreachable',
    owner: 'network',
    alert: 'NotReady',
  },
  {
    cause: 'wrong passcode at renewal',
    arrange: otherPasscode,
    code: 'certificate-unusable',
    owner: 'operator',
    doctor: 'pfx-unreadable',
    alert: 'CertificateRefused',
  },
  {
    cause: 'wrong password file',
    arrange: otherPassword,
    code: 'credentials-rejected',
    owner: 'operator',
    alert: 'Degraded',
  },
  {
    cause: 'list emptied',
    arrange: listing([]),
    code: 'accounts-emptied',
    owner: 'bank',
    alert: 'NoAccounts',
  },
  { cause: 'list halved, with a right count', arrange: listing(sampleAccounts(5)), alert: 'FewerAccounts' },
  {
    cause: 'no currency in any account',
    arrange: listing(sampleAccounts(10).map(({ currency: _currency, ...account }) => account)),
    alert: 'BankDrift',
  },
  ...([10, -10] as const).map((minutes): Row => ({
    cause: `clock ${minutes > 0 ? '+' : '−'}10 min`,
    arrange: (clock) => ({ provoke: () => clock.moveWall(minutes * 60_000) }),
    code: 'clock-skewed',
    owner: 'operator',
    alert: 'Degraded',
  })),
  {
    cause: 'tokens live for 60 s',
    arrange: (clock) => ({
      provoke: async () => {
        bank.onToken = issueToken(bank, { expires_in: '60' });
        clock.moveMonotonic(301_000);
      },
    }),
  },
  ...[20, 3, 1, 0].map((days): Row => ({
    cause: `client certificate ends in ${days} days`,
    arrange: () => endingIn(days),
    code: 'certificate-expiring',
    owner: 'operator',
    alert: `CertificateExpires${days === 20 ? 30 : days === 3 ? 14 : 3}Days`,
  })),
];

const REDIS: Row = {
  cause: 'Redis down',
  arrange: withoutRedis,
  code: 'sharing-unavailable',
  owner: 'operator',
  alert: 'SharingUnavailable',
};
const DISK: Row = {
  cause: 'snapshot disk full',
  arrange: fullDisk,
  code: 'snapshot-not-stored',
  owner: 'operator',
  doctor: null,
  alert: 'Degraded',
};

describe('each cause has one code and one owner while the gateway runs, for apps, /health, log, doctor and alerts', () => {
  const check = async ({ cause, arrange, fails, code = null, owner = null, doctor = code, alert = null }: Row) => {
    bank.onAccounts = listSample(10);
    const clock = new MovedClock();
    const { env = {}, provoke } = await arrange(clock);
    const gateway = await startGateway(bank, env, clock);
    const ask = () => gateway.get('/api/v1/accounts');
    expect((await ask()).status).toBe(200);
    const spans = [{ scrape: await scrape(gateway), minutes: 1 }];
    const linesBefore = provoke ? gateway.lines.length : 0;

    const begun = performance.now();
    await provoke?.({ gateway, clock });
    clock.moveMonotonic(FRESH_MS);
    const app = [await ask()];
    const seconds = (performance.now() - begun) / 1000;
    let health = await gateway.get('/health');
    spans.push({ scrape: await scrape(gateway), minutes: fails ? 5 : 20 });
    expect([app[0]?.status, app[0]?.headers['snapshot-stale']]).toEqual([200, String(fails ?? false)]);
    if (fails) {
      clock.moveMonotonic(LONGEST_WAIT_MS);
      app.push(await ask());
      health = await gateway.get('/health');
      spans.push({ scrape: await scrape(gateway), minutes: 10 });
      expect(app[1]?.status).toBeGreaterThanOrEqual(500);
    }
    const { report } = await examineWith({ ...toEnvironment(bank), ...env }, { clock });
    const lines = gateway.lines.slice(linesBefore).map((line) => JSON.parse(line) as LogLine);
    keep({ cause, app, health, lines, doctor: report, seconds, spans }, { code, owner, doctor, alert });
  };

  it.each(ROWS.map((row) => [row.cause, row] as const))('%s', (_cause, row) => check(row));

  (hasRedis() ? it : it.skip)('Redis down', () => check(REDIS));

  (canMountDisk() ? it : it.skip)('snapshot disk full', () => check(DISK));

  it('log reader that has closed its end', async () => {
    const env = programEnvironment(bank, { LOG_LEVEL: 'info' });
    const program = await startProgram({ cwd: temporaryDirectory(), env });
    const url = await program.started();
    const fetch = (path: string) => get(`${url}${path}`);
    expect((await fetch('/api/v1/accounts')).status).toBe(200);
    const before = await scrape({ get: fetch });
    expect(before.value('accounts_gateway_log_lines_dropped_total')).toBe(0);
    const begun = performance.now();
    program.child.stdout?.destroy();
    const app: Answer[] = [];
    const lost = async () => (await scrape({ get: fetch })).value('accounts_gateway_log_lines_dropped_total');
    await until(async () => {
      app.push(await fetch('/api/v1/accounts'));
      return ((await lost()) ?? 0) > 0;
    });
    const seconds = (performance.now() - begun) / 1000;
    expect(program.stderr()).toContain('standard output cannot be written (EPIPE)');
    const lines = [{ level: 'one line', event: 'stderr' }];
    const spans = [
      { scrape: before, minutes: 1 },
      { scrape: await scrape({ get: fetch }), minutes: 20 },
    ];
    const health = await fetch('/health');
    const { report } = await examineWith(env);
    const said = { cause: 'log reader gone', app, health, lines, doctor: report, seconds, spans };
    keep(said, { code: null, owner: null, doctor: null, alert: null });
  });

  checkAlerts();
});
