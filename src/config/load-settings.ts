import { readEnvFile } from './env-file.js';
import { readSettings, type ReadOptions, type SettingsRead } from './read-settings.js';
import { SECRET_NAMES } from './settings-schema.js';

const MIN_OPEN_FILES = 256;

/** Settings from the environment and, where it does not set a variable, from `.env`. @throws SettingsInvalid */
export function loadSettings(environment: NodeJS.ProcessEnv, options: ReadOptions): SettingsRead {
  const file = readEnvFile();
  const set = Object.entries(environment).filter(([, text]) => text);
  const env: NodeJS.ProcessEnv = { ...file.values, ...Object.fromEntries(set) };
  const read = readSettings(env, { ...options, warnings: [...file.warnings, ...fewFiles()] });
  // their SDK reads them there; no other value from the file (perhaps a secret) is copied
  for (const [name, text] of Object.entries(env)) if (name.startsWith('OTEL_')) environment[name] = text;
  return read;
}

/** Warns if the limit of open files (RLIMIT_NOFILE) is low. */
function fewFiles(): string[] {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const limit = userLimits?.open_files?.soft;
  if (typeof limit !== 'number' || limit >= MIN_OPEN_FILES) return [];
  return [`this process may open only ${limit} files (RLIMIT_NOFILE); raise the limit to at least ${MIN_OPEN_FILES}`];
}

/** Removes secrets from the environment that this program, its children and its reports see, not from /proc. */
export function forgetSecrets(environment: NodeJS.ProcessEnv): void {
  for (const name of SECRET_NAMES) delete environment[name];
  for (const [name, value] of Object.entries(environment)) {
    const proxyPassword = /^https?_proxy$/i.test(name) && value?.includes('@');
    if (proxyPassword || /^OTEL_.*_(HEADERS|ENDPOINT)$/.test(name)) delete environment[name];
  }
}
