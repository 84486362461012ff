import inspector from 'node:inspector';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { readEnvFile } from './env-file.js';
import { readSettings, type ReadOptions, type SettingsRead } from './read-settings.js';
import { SECRET_NAMES } from './settings-schema.js';
import { fewFiles } from './warnings.js';

/**
 * Settings from the environment and, where it does not set a variable, from `.env`. Nest's ConfigModule has them in a
 * separate context, because log, listener and sandbox need them before the app exists.
 * @throws SettingsInvalid
 */
export async function loadSettings(options: ReadOptions): Promise<SettingsRead> {
  // read here, since Nest would read a file of any kind and size
  const file = readEnvFile();
  const runtime = { nodeFlags: process.execArgv, inspectorUrl: inspector.url() };
  const warnings = [...file.warnings, ...fewFiles(openFilesLimit())];
  const validate = (environment: NodeJS.ProcessEnv) => {
    const env = { ...file.values, ...withoutEmpty(environment) };
    return { ...toExport(env), read: readSettings(env, { ...runtime, ...options, warnings }) };
  };
  // override: an empty variable of OpenTelemetry does not hide the one in the file
  const config = await ConfigModule.forRoot({ ignoreEnvFile: true, override: true, validate });
  const context = await NestFactory.createApplicationContext(config, { logger: false, abortOnError: false });
  return context.get(ConfigService).getOrThrow<SettingsRead>('read');
}

const withoutEmpty = (env: NodeJS.ProcessEnv) => Object.fromEntries(Object.entries(env).filter(([, text]) => text));

/**
 * Nest copies texts that `validate` returns into `process.env`: only the variables of OpenTelemetry, whose SDK reads them
 * there. No other value of the file (a secret, perhaps) is copied.
 */
const toExport = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_')));

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
