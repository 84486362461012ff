import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../../src/app.setup.js';
import { Clock } from '../../src/time/clock.js';
import { Log } from '../../src/telemetry/log.js';
import { readSettings } from '../../src/config/read-settings.js';
import type { Settings } from '../../src/config/settings.js';
import type { SandboxControl } from '../../src/sandbox/control/sandbox-control.js';
import { toEnvironment, type BankAddress } from './bank-address.js';
import { get, type Answer } from './call.js';
import { countOpenFiles, onClose } from './closing.js';
import type { LogLine } from './log-lines.js';

export { toEnvironment, type BankAddress } from './bank-address.js';
export { call, get, toAnswer, type Answer } from './call.js';
export type { LogLine } from './log-lines.js';

export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly app: NestFastifyApplication;
  readonly settings: Settings;
  /** Number of file descriptors that were open before the gateway was created. */
  readonly filesBefore: number;
  /** Every log line so far. */
  readonly lines: readonly string[];
  /** The log lines with this event. */
  events(event: string): LogLine[];
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  head(path: string): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Longer than a connection or a refresh takes on a busy machine, so that only the test's bank makes a response stale. A
 * test of a slow bank sets a soft timeout and uses a bank that never responds.
 */
const PATIENT = { BANK_CONNECT_TIMEOUT_MS: '20000', SNAPSHOT_SOFT_TIMEOUT_MS: '10000' };

/** Starts the real app on a free port, created as in main, and records its log lines. */
export async function startGateway(
  bank: BankAddress,
  env: Record<string, string> = {},
  clock: Clock = new Clock(),
  sandbox?: SandboxControl,
  redisWaitMs?: number,
): Promise<Gateway> {
  return (await prepareGateway(bank, env, clock, sandbox, redisWaitMs)).listen();
}

/** The same before it listens, so that a test can add to the app. With `sandbox`, as under `--sandbox`. */
export async function prepareGateway(
  bank: BankAddress,
  env: Record<string, string> = {},
  clock: Clock = new Clock(),
  sandbox?: SandboxControl,
  redisWaitMs?: number,
): Promise<{ readonly app: NestFastifyApplication; listen(): Promise<Gateway> }> {
  const read = readSettings(
    { ...toEnvironment(bank), ...PATIENT, PORT: '0', LOG_LEVEL: 'trace', SHUTDOWN_GRACE_MS: '2000', ...env },
    { sandbox: false },
  );
  const settings: Settings = { ...read.settings, mode: sandbox ? 'sandbox' : 'live' };
  const filesBefore = countOpenFiles();
  const lines: string[] = [];
  const log = new Log({
    level: settings.LOG_LEVEL,
    pretty: false,
    destination: { write: (line) => void lines.push(line) },
  });
  const app = await createApp({ settings, clock, log, sandbox, redisWaitMs });
  return { app, listen };

  async function listen(): Promise<Gateway> {
    await app.listen(settings.PORT, settings.HOST);
    const { port } = app.getHttpServer().address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    let closed: Promise<void> | undefined;
    const gateway: Gateway = {
      url,
      port,
      app,
      settings,
      filesBefore,
      lines,
      events: (event) =>
        lines.filter((line) => line.includes(`"event":"${event}"`)).map((line) => JSON.parse(line) as LogLine),
      get: (path, headers = {}) => get(`${url}${path}`, headers),
      head: (path) => get(`${url}${path}`, {}, 'HEAD'),
      close: () => (closed ??= app.close()),
    };
    onClose(gateway.close);
    return gateway;
  }
}
