import { existsSync, readFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { ConfigModule, type ConfigModuleOptions } from '@nestjs/config';
import type { Environment } from './environment.js';
import { readSettings, type ReadOptions, type SettingsRead } from './read-settings.js';
import { SettingsInvalid } from './settings-error.js';
import { SECRET_NAMES } from './settings-schema.js';
import { whyUnreadable } from './small-file.js';
import { duplicateNames, fewFiles } from './warnings.js';

/** Read from the working directory, for what the environment does not set. */
const ENV_FILE = '.env';

interface SettingsLoaded extends SettingsRead {
  /** The variables of OpenTelemetry, which its SDK reads from the environment of the process. */
  readonly openTelemetry: Environment;
}

/**
 * Settings from the environment and, where a variable is not set there, from `.env` in the working directory.
 * `validate` returns nothing, so no value of the file (a secret, perhaps) is copied into `process.env`.
 * @throws SettingsInvalid
 */
export async function loadSettings(options: ReadOptions): Promise<SettingsLoaded> {
  let loaded: SettingsLoaded | undefined;
  await loadEnvironment({
    envFilePath: ENV_FILE,
    validate: (env: Environment) => {
      const runtime = { runtimeFlags: process.execArgv, inspectorUrl: inspector.url() };
      const text = existsSync(ENV_FILE) ? readFileSync(ENV_FILE, 'utf8') : '';
      const warnings = [...duplicateNames(text), ...fewFiles(openFilesLimit())];
      const openTelemetry = Object.entries(env).filter(([name]) => name.startsWith('OTEL_'));
      loaded = {
        ...readSettings(env, { ...runtime, warnings, ...options }),
        openTelemetry: Object.fromEntries(openTelemetry),
      };
      return {};
    },
  });
  if (!loaded) throw new Error('@nestjs/config did not call validate');
  return loaded;
}

/** @nestjs/config skips an `.env` that is not there; one that it cannot read ends in the error of the file system. */
async function loadEnvironment(options: ConfigModuleOptions): Promise<void> {
  try {
    await ConfigModule.forRoot(options);
  } catch (error) {
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
export function forgetSecrets(environment: Record<string, string | undefined>): void {
  for (const name of SECRET_NAMES) delete environment[name];
  for (const [name, value] of Object.entries(environment)) {
    const proxyPassword = /^https?_proxy$/i.test(name) && value?.includes('@');
    if (proxyPassword || /^OTEL_.*_(HEADERS|ENDPOINT)$/.test(name)) delete environment[name];
  }
}
