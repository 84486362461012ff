import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from '../app.module.js';
import { createApp } from '../app.setup.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';
import { SystemClock } from '../time/clock.js';
import { describeRoutes } from '../egress/route.js';
import { createLogger, Log } from '../logging/logging.js';
import { SandboxNotStarted } from '../sandbox/listen.js';
import { sandboxPlaces } from '../sandbox/sandbox-greeting.js';
import { startSandbox, type Sandbox } from '../sandbox/sandbox.js';
import { forgetSecrets, loadSettings } from '../config/load-settings.js';
import { SettingsInvalid } from '../config/settings-error.js';
import type { Settings } from '../config/settings.js';
import { startTracing, type Tracing } from '../telemetry/tracing.js';
import { COMMIT, VERSION } from '../config/version.js';
import { describeErrors, EXIT } from './exit.js';
import { toSandboxBank, toSandboxOptions } from './sandbox-bank.js';
import { listenForStop } from './stop-signal.js';

/** For a collector that answers no more: its next try would keep the process for seconds. */
const LINGER_MS = 200;

interface ServeOptions {
  readonly sandbox: boolean;
  readonly fresh: boolean;
}

/**
 * The V8 of Node 24 holds what network buffers leave behind against a heap that it measures without them: while a long list
 * is read, its collector ran on the serving thread for every 10 MB of pages. Later ones measure with them, and have no such flag
 * (docs/architecture.md#threads).
 */
function weighBuffersFairly(version: string): void {
  if (version.startsWith('24.')) setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Serves the internal API until it is told to stop; gives the exit code. Every failed start ends in one clear message. */
export async function serve(process: NodeJS.Process, options: ServeOptions): Promise<number> {
  weighBuffersFairly(process.versions.node);
  const stop = listenForStop(process);
  const reload = (why: string) => {
    if (app === null) return;
    logger.info({ event: 'config.reload' }, `${why}: looking at certificate and credentials again`);
    app.get(AppModule).reload();
  };
  // by default it would end the process, even while it starts
  process.on('SIGHUP', () => reload('SIGHUP'));
  const forPeople = process.stdout.isTTY === true;
  let logger = createLogger({ level: 'info', pretty: forPeople });
  let sandbox: Sandbox | null = null;
  let app: NestFastifyApplication | null = null;
  let tracing: Tracing | null = null;
  try {
    const { common, bank, warnings, openTelemetry } = await loadSettings({ sandbox: options.sandbox });
    logger = createLogger({ level: common.LOG_LEVEL, pretty: forPeople });
    Object.assign(process.env, openTelemetry);
    tracing = await startTracing(openTelemetry, logger);
    forgetSecrets(process.env);
    exitOnFault(process, logger);
    for (const warning of warnings) logger.warn({ event: 'config.warning' }, warning);

    if (bank === null) {
      // what was shown by its switches is over: nobody wants to wait out the failures
      const onReset = () => reload('the switches of the sandbox are set back');
      sandbox = await startSandbox(toSandboxOptions(common), { fresh: options.fresh, onReset });
    }
    const settings: Settings = { ...common, ...(bank ?? toSandboxBank(sandbox as Sandbox)) };
    app = await createApp({
      settings,
      clock: new SystemClock(),
      log: new Log(logger),
      readAtStart: true,
      sandbox: sandbox?.control,
    });
    // told to stop while starting, it never opens
    if (stop.signal === null) {
      await app.listen(settings.PORT, toAddress(settings.HOST));
      announce(process, logger, settings, toUrl(app, settings), sandbox);
    }
    const signal = await stop.received;
    logger.info({ event: 'gateway.stopping', signal }, `stopping on ${signal}`);
    await app.close();
    await sandbox?.close();
    const sent = await tracing?.stop();
    logger.info({ event: 'gateway.stopped' }, 'stopped');
    return await end(process, logger, EXIT.stopped, sent);
  } catch (error) {
    await app?.close().catch(() => undefined);
    await sandbox?.close();
    const sent = await tracing?.stop();
    return end(process, logger, reportFailedStart(process, logger, error), sent);
  }
}

function announce(
  process: NodeJS.Process,
  logger: Logger,
  settings: Settings,
  url: string,
  sandbox: Sandbox | null,
): void {
  const route = describeRoutes(settings);
  logger.info(
    { event: 'gateway.started', url, mode: settings.mode, route, version: VERSION, commit: COMMIT },
    `serving on ${url} (${settings.mode}, ${route})`,
  );
  if (sandbox) process.stderr.write(`\n${greeting(url)}\n${sandboxPlaces(sandbox)}\n`);
}

/** What a developer of a web app needs first. */
function greeting(url: string): string {
  return `accounts-gateway ${VERSION} with the SANDBOX bank (made-up accounts, no real bank)

  open       ${url}/
  accounts   ${url}/api/v1/accounts
  docs       ${url}/docs
  health     ${url}/health

  in a page  await (await fetch('${url}/api/v1/accounts?pageSize=5')).json()
  with Vite  server: { proxy: { '/api': '${url}' } }
`;
}

/** One address, since the HTTP edge watches one server: `localhost` may have two. */
const toAddress = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host);

/** An address that works from this machine, wherever the server listens. */
function toUrl(app: NestFastifyApplication, settings: Settings): string {
  const { address, port, family } = app.getHttpServer().address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `${settings.TLS_CERT_FILE ? 'https' : 'http'}://${host}:${port}`;
}

function reportFailedStart(process: NodeJS.Process, logger: Logger, error: unknown): number {
  if (error instanceof SettingsInvalid) {
    const { errors, warnings } = error;
    logger.error({ event: 'config.invalid', errors, warnings }, 'the settings cannot be used');
    process.stderr.write(describeErrors(error));
    return EXIT.settings;
  }
  if (error instanceof CertificateUnreadable) {
    logger.fatal({ event: 'certificate.refused', reason: error.reason }, error.message);
    process.stderr.write(`${error.message}\n`);
    return EXIT.pfx;
  }
  const message = error instanceof SandboxNotStarted ? error.message : listenProblem(error);
  if (message) {
    logger.fatal({ event: 'gateway.not-started' }, message);
    process.stderr.write(`${message}\n`);
  } else {
    logger.fatal({ event: 'gateway.not-started', err: error }, 'could not start, by a fault of its own');
    process.stderr.write(
      `accounts-gateway could not start, by a fault of its own: ${error instanceof Error ? error.name : 'unknown'}. The log line has its place.\n`,
    );
  }
  return EXIT.ownFault;
}

function listenProblem(error: unknown): string | null {
  const failure = error as NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number };
  const { code, syscall, hostname, address = hostname, port } = failure;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return null;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${address} is taken (PORT, HOST): stop the program that holds it, or choose another with PORT=3001.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user (PORT): choose one above 1023.`;
    default:
      return `HOST names ${address}, which cannot be listened on (${code}): give an address of this machine, e.g. HOST=127.0.0.1.`;
  }
}

/** What nobody foresaw ends the process with a line that says so; a supervisor starts it again. */
function exitOnFault(process: NodeJS.Process, logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ event: 'gateway.fault', err: error }, 'a fault of its own; the process ends');
    logger.flush(() => process.exit(EXIT.ownFault));
  });
}

/** Once all lines are out; `sent` is false where the exporter of traces would still hold the process. */
async function end(
  process: NodeJS.Process,
  logger: Logger,
  exitCode: number,
  sent: boolean | undefined,
): Promise<number> {
  await new Promise((resolve) => logger.flush(resolve));
  if (sent === false) setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
  return exitCode;
}
