import { existsSync, readdirSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { request as requestSecurely, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { onClose } from './closing.js';
import { createApp } from '../../src/app.setup.js';
import { Clock } from '../../src/time/clock.js';
import { Log } from '../../src/telemetry/log.js';
import { readSettings } from '../../src/config/read-settings.js';
import type { Settings } from '../../src/config/settings.js';
import type { SandboxControl } from '../../src/sandbox/control/sandbox-control.js';

/** A bank that a gateway can be pointed at: the sandbox or the pretend bank. */
export interface BankAddress {
  readonly url: string;
  readonly authUrl: string;
  readonly files: {
    readonly ca: string;
    readonly pfx: string;
    readonly passcode: string;
    readonly username: string;
    readonly password: string;
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. Throws if it is not JSON. */
  readonly json: any; // eslint-disable-line typescript/no-explicit-any -- tests read any property
}

export type LogLine = Readonly<Record<string, unknown>>;

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

/** The settings for a bank, as an operator would write them. */
export function toEnvironment({ url, authUrl, files }: BankAddress): Record<string, string> {
  return {
    BANK_BASE_URL: url,
    BANK_AUTH_URL: authUrl,
    BANK_USERNAME_FILE: files.username,
    BANK_PASSWORD_FILE: files.password,
    BANK_PFX_FILE: files.pfx,
    BANK_PFX_PASSCODE_FILE: files.passcode,
    BANK_CA_FILE: files.ca,
  };
}

/**
 * Longer than a connection or a refresh takes on a busy machine, so that only the bank of the test makes a response stale. A test
 * of a slow bank sets a soft timeout, with a bank that never responds.
 */
const PATIENT = { BANK_CONNECT_TIMEOUT_MS: '20000', SNAPSHOT_SOFT_TIMEOUT_MS: '10000' };

/** The real app on a free port, created as in main, with its log lines recorded. */
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

/** Number of file descriptors of this process, 0 where the system does not report it. */
export function countOpenFiles(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}

/** One GET on a new connection. */
export function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return call(url, { headers, method });
}

/** One HTTP or HTTPS request, on a new connection unless an agent is given. */
export function call(url: string, { body, ...options }: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const send = url.startsWith('https:') ? requestSecurely : request;
  send(url, { agent: false, ...options })
    .on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((bytes) => resolve(toAnswer(status, headers, bytes.toString('utf8'))), reject);
    })
    .on('error', reject)
    .end(body);
  return promise;
}

export const toAnswer = (status: number, headers: IncomingHttpHeaders, text: string): Answer => ({
  status,
  headers,
  text,
  get json() {
    return JSON.parse(text) as unknown;
  },
});
