import { once } from 'node:events';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from '../app.module.js';
import { createApp } from '../app.setup.js';
import { forgetSecrets, loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { COMMIT, VERSION } from '../config/build-output.js';
import { lookups } from '../egress/lookups.js';
import { describeRoutes } from '../egress/route.js';
import { Log } from '../telemetry/log.js';
import { openStandardOutput } from '../telemetry/standard-output.js';
import { sandboxAddresses } from '../sandbox/sandbox-greeting.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { startTracing } from '../telemetry/tracing.js';
import { Clock } from '../time/clock.js';
import { within } from '../time/deadline.js';
import { EXIT } from './exit.js';
import type { Options } from './options.js';
import { reportFailedStart } from './report-failed-start.js';
import { startEmbeddedSandbox } from './embedded-sandbox.js';
import { listenForStop } from './listen-for-stop.js';
import { warnOfNode } from './node-floor.js';

/** Maximum wait for the last log lines to be written: their reader may have stopped reading. */
const FLUSH_WITHIN_MS = 1000;

/** Serves the internal API until a stop signal, then exits. Every failed start ends in one clear message. */
export async function serve(process: NodeJS.Process, options: Options): Promise<number> {
  const stop = listenForStop(process);
  const stopped = once(stop, 'abort');
  const pretty = process.stdout.isTTY === true && (await import('../telemetry/terminal-lines.js')).toTerminalLine;
  const opened = new AsyncDisposableStack();
  const destination = openStandardOutput();
  let { logger } = new Log({ level: 'info', pretty, destination });
  let app: NestFastifyApplication | null = null;
  const reload = (cause: { event: string }, why: string) => {
    logger.info(cause, `${why}: reloading certificate and credentials`);
    void app?.get(AppModule).reload();
  };
  process.on('SIGHUP', () => app && reload({ event: 'config.reload' }, 'SIGHUP'));

  const start = async () => {
    const { settings: read, warnings } = loadSettings(process.env, { sandbox: options.sandbox });
    const log = new Log({ level: read.LOG_LEVEL, pretty, destination });
    logger = log.logger;
    const tracing = await startTracing(process.env, logger, lookups.optional);
    opened.defer(async () => void (await tracing?.stop()));
    forgetSecrets(process.env);
    process.on('uncaughtException', (error) => {
      logger.fatal({ event: 'gateway.fault', err: error }, 'an internal error; the process ends');
      // a supervisor restarts it
      void end(process, logger, EXIT.internalError);
    });
    for (const warning of [...warnOfNode(process.versions.node), ...warnings])
      logger.warn({ event: 'config.warning' }, warning);
    // ends a back-off that the sandbox's switches caused
    const onReset = () => reload({ event: 'sandbox.reset' }, 'the switches of the sandbox were reset');
    const { settings, sandbox } =
      read.mode === 'sandbox'
        ? await startEmbeddedSandbox(read, { fresh: options.fresh, replayFile: options.replay, onReset })
        : { settings: read, sandbox: null };
    opened.defer(async () => sandbox?.close());
    const created = await createApp({ settings, clock: new Clock(), log, sandbox: sandbox?.control });
    opened.defer(() => created.close());
    app = created;
    if (stop.aborted) return;
    await app.listen(settings.PORT, toAddress(settings.HOST));
    app.get(AppModule).readAtStart();
    await announce(process, logger, settings, await toUrl(app, settings.HOST), sandbox);
  };

  try {
    await Promise.race([start(), stopped]);
  } catch (error) {
    await opened.disposeAsync().catch(() => undefined);
    return end(process, logger, reportFailedStart(process, logger, error));
  }
  await stopped;
  logger.info({ event: 'gateway.stopping', signal: stop.reason }, `stopping on ${stop.reason}`);
  await opened.disposeAsync();
  logger.info({ event: 'gateway.stopped' }, 'stopped');
  return end(process, logger, EXIT.stopped);
}

async function announce(
  process: NodeJS.Process,
  logger: Logger,
  settings: Settings,
  url: string,
  sandbox: Sandbox | null,
): Promise<void> {
  const { mode, ENVIRONMENT: environment = null } = settings;
  const route = describeRoutes(settings);
  logger.info(
    { event: 'gateway.started', url, mode, route, version: VERSION, commit: COMMIT, environment },
    `serving on ${url} (${mode}, ${route})`,
  );
  if (!sandbox) return;
  // on a terminal it comes after the log lines so far
  if (process.stdout.isTTY) await flush(logger);
  process.stderr.write(`\n${sandboxAddresses(sandbox)}\n${greeting(url)}`);
}

/** The addresses that a web app developer needs first. */
function greeting(url: string): string {
  return `accounts-gateway ${VERSION} with the SANDBOX bank (made-up accounts, no real bank)

  open       ${url}/
  accounts   ${url}/api/v1/accounts
  docs       ${url}/docs
  health     ${url}/health

  in a page  await (await fetch('${url}/api/v1/accounts?pageSize=5')).json()
  in an app  npm pack ${url}/client/accounts-gateway-client-${VERSION}.tgz && npm install ./accounts-gateway-client-${VERSION}.tgz
             ${url}/docs/guide/web-apps has the App.tsx for it

  Press Ctrl+C to stop
`;
}

/** A single address, because only one server is watched: `localhost` may have two. */
const toAddress = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host);

/** An address that works from this machine. A wildcard becomes `localhost`, which also works for a container. */
async function toUrl(app: NestFastifyApplication, host: string): Promise<string> {
  const url = await app.getUrl();
  return host === '0.0.0.0' || host === '::' ? url.replace(/127\.0\.0\.1|\[::1\]/, 'localhost') : url;
}

const flush = (logger: Logger) => within(new Promise((resolve) => logger.flush(resolve)), FLUSH_WITHIN_MS);

/** Exits explicitly, because an interrupted start or an unresponsive collector would keep the process alive. */
async function end(process: NodeJS.Process, logger: Logger, exitCode: number): Promise<never> {
  await flush(logger);
  process.exit(exitCode);
}
