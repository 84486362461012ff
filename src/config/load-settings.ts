import { existsSync, readFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { readSettings, type ReadOptions, type SettingsRead } from './read-settings.js';
import { SettingsInvalid } from './settings-error.js';
import { SECRET_NAMES } from './settings-schema.js';
import { whyUnreadable } from './small-file.js';
import { duplicateNames, fewFiles } from './warnings.js';

/** Read from the working directory, for what the environment does not set. */
const ENV_FILE = '.env';

/**
 * Settings from the environment and, where it does not set a variable, from `.env`. Nest's ConfigModule reads them in a
 * separate context, because log, listener and sandbox need them before the app exists.
 * @throws SettingsInvalid
 */
export async function loadSettings(options: ReadOptions): Promise<SettingsRead> {
  const runtime = { nodeFlags: process.execArgv, inspectorUrl: inspector.url() };
  const { settings, warnings } = await readWithNest((env) => readSettings(env, { ...runtime, ...options }));
  const envText = existsSync(ENV_FILE) ? readFileSync(ENV_FILE, 'utf8') : '';
  return { settings, warnings: [...warnings, ...duplicateNames(envText), ...fewFiles(openFilesLimit())] };
}

/**
 * Nest copies texts that `validate` returns into `process.env`: only the variables of OpenTelemetry, whose SDK reads them
 * there. No other value of the file (a secret, perhaps) is copied.
 */
const toExport = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_')));

async function readWithNest(read: (env: NodeJS.ProcessEnv) => SettingsRead): Promise<SettingsRead> {
  const validate = (env: NodeJS.ProcessEnv) => ({ ...toExport(env), read: read(env) });
  try {
    const config = await ConfigModule.forRoot({ envFilePath: ENV_FILE, validate });
    const context = await NestFactory.createApplicationContext(config, { logger: false, abortOnError: false });
    return context.get(ConfigService).getOrThrow<SettingsRead>('read');
  } catch (error) {
    // anything else than the file that cannot be read
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const problem = `in ${process.cwd()} ${whyUnreadable(error)}`;
    throw new SettingsInvalid([{ variable: ENV_FILE, problem, example: `chmod 600 ${ENV_FILE}` }]);
  }
}

function openFilesLimit(): number {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Infinity;
}

/**
 * Removes secrets that were given directly from the environment that this program, its children and its reports see.
 * /proc/PID/environ still shows what the process was started with. Secrets belong in files.
 */
export function forgetSecrets(environment: NodeJS.ProcessEnv): void {
  for (const name of SECRET_NAMES) delete environment[name];
  for (const [name, value] of Object.entries(environment)) {
    const proxyPassword = /^https?_proxy$/i.test(name) && value?.includes('@');
    if (proxyPassword || /^OTEL_.*_(HEADERS|ENDPOINT)$/.test(name)) delete environment[name];
  }
}
