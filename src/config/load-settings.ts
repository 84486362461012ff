import inspector from 'node:inspector';
import { ConfigModule, type ConfigModuleOptions } from '@nestjs/config';
import type { Environment } from './environment.js';
import { ENV_FILE } from './fault.js';
import { readSettings, SettingsInvalid, type ReadOptions, type SettingsRead } from './read-settings.js';
import { whyUnreadable } from './small-file.js';
import { SECRET_NAMES } from './settings-schema.js';

/**
 * Takes secrets that were given directly out of the environment that this program, its children and its reports see.
 * It is no cure: /proc/PID/environ shows what the process was started with as long as it lives. Secrets belong in files.
 */
export function forgetSecrets(environment: Record<string, string | undefined>): void {
  for (const name of SECRET_NAMES) delete environment[name];
  for (const name of Object.keys(environment)) if (/^OTEL_.*_(HEADERS|ENDPOINT)$/.test(name)) delete environment[name];
  for (const [name, value] of Object.entries(environment)) {
    if (/^https?_proxy$/i.test(name) && value?.includes('@')) delete environment[name];
  }
}

interface SettingsLoaded extends SettingsRead {
  /** The variables of OpenTelemetry, which its SDK reads from the environment of the process. */
  readonly openTelemetry: Environment;
}

/**
 * Settings from the environment and, where a variable is not set there, from `.env` in the working directory.
 * `validate` gives nothing back, so no value of the file (a secret, perhaps) is copied into `process.env`.
 * @throws SettingsInvalid
 */
export async function loadSettings(options: ReadOptions): Promise<SettingsLoaded> {
  let read: SettingsLoaded | undefined;
  await loadEnvironment({
    envFilePath: ENV_FILE,
    validate: (env: Environment) => {
      const runtime = { runtimeFlags: process.execArgv, inspectorUrl: inspector.url() };
      const openTelemetry = Object.entries(env).filter(([name]) => name.startsWith('OTEL_'));
      read = {
        ...readSettings(env, { ...runtime, envFile: ENV_FILE, ...options }),
        openTelemetry: Object.fromEntries(openTelemetry),
      };
      return {};
    },
  });
  if (!read) throw new Error('@nestjs/config did not call validate');
  return read;
}

/** It leaves out an `.env` that is not there; one that it cannot read it reports by the error of the file system alone. */
async function loadEnvironment(options: ConfigModuleOptions): Promise<void> {
  try {
    await ConfigModule.forRoot(options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new SettingsInvalid([{ variable: ENV_FILE, problem: `in ${process.cwd()} ${whyUnreadable(error)}` }]);
  }
}
