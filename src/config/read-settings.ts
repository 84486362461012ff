import type { z } from 'zod';
import { checkProduction, type Runtime } from './check-production.js';
import { crossCheck } from './cross-checks.js';
import { isGiven, isSet, type Environment } from './environment.js';
import { usableFile } from './kinds.js';
import { fileSecret, textSecret, type SecretSource } from './secret-source.js';
import { SettingsInvalid, toError, type SettingsError } from './settings-error.js';
import { describeSetting, RENAMED, SETTING_NAMES, settingsSchema, type SettingName } from './settings-schema.js';
import type { Settings, Values } from './settings.js';
import { FileUnusable, readSmallFile } from './small-file.js';
import { ignoredNames, unknownNames } from './warnings.js';

export interface ReadOptions extends Runtime {
  /** The sandbox is the bank. */
  readonly sandbox: boolean;
  /** The sandbox bank runs alone, as it may in production. */
  readonly sandboxAlone?: boolean;
  /** Warnings found before the environment is read. */
  readonly warnings?: readonly string[];
}

export interface SettingsRead {
  readonly settings: Settings;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Every port of this machine, where dev servers run; `*` is for this default alone, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

/**
 * All settings (docs/settings.md), checked and frozen. An empty variable counts as not set. With `sandbox`, the settings of
 * a bank are ignored with a warning.
 * @throws SettingsInvalid with every error there is
 */
export function readSettings(env: Environment, options: ReadOptions): SettingsRead {
  const { sandbox, sandboxAlone = false } = options;
  const embedded = sandbox && !sandboxAlone;
  const ignored = sandbox ? ignoredNames(env) : [];
  const used = Object.fromEntries(Object.entries(env).filter(([name]) => !ignored.includes(name)));
  const warnings = [...(options.warnings ?? []), ...unknownNames(env)];
  if (ignored.length > 0 && embedded) warnings.push(`--sandbox ignores these settings: ${ignored.join(', ')}`);

  const { values, errors } = readValues(used, sandbox);
  const proxy = sandbox ? null : readProxy(used, values, errors);
  errors.push(...renamed(env), ...crossCheck(used, values, sandbox), ...checkProduction(env, options, embedded));
  if (errors.length > 0) throw new SettingsInvalid([...errors, ...checkCertificateFiles(values)], warnings);

  // without an error, each value is there
  const complete = values as Values;
  const secret = (name: SettingName): SecretSource =>
    isSet(used[`${name}_FILE`]) ? fileSecret(name, used[`${name}_FILE`] ?? '') : textSecret(name, used[name] ?? '');
  const secretIfGiven = (name: SettingName) => (isGiven(used, name) ? secret(name) : undefined);
  const port = (name: 'SANDBOX_PORT' | 'SANDBOX_CONTROL_PORT') => (embedded && !isSet(env[name]) ? 0 : complete[name]);
  const baseUrl = complete.BANK_BASE_URL ?? '';
  const settings: Settings = {
    ...complete,
    mode: sandbox ? 'sandbox' : 'live',
    production: env['NODE_ENV'] === 'production',
    BANK_BASE_URL: baseUrl,
    BANK_AUTH_URL: complete.BANK_AUTH_URL ?? baseUrl,
    BANK_USERNAME: secret('BANK_USERNAME'),
    BANK_PASSWORD: secret('BANK_PASSWORD'),
    BANK_PFX_BASE64: secretIfGiven('BANK_PFX_BASE64'),
    BANK_PFX_PASSCODE: secret('BANK_PFX_PASSCODE'),
    BANK_KEY_PASSPHRASE: secret('BANK_KEY_PASSPHRASE'),
    EGRESS_PROXY_URL: proxy,
    EGRESS_NO_PROXY: complete.EGRESS_NO_PROXY ?? (env['no_proxy'] || env['NO_PROXY'] || ''),
    EGRESS_LOCAL_ADDRESS: sandbox ? undefined : complete.EGRESS_LOCAL_ADDRESS,
    REDIS_URL: secretIfGiven('REDIS_URL'),
    CORS_ORIGINS: complete.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
    SANDBOX_PORT: port('SANDBOX_PORT'),
    SANDBOX_CONTROL_PORT: port('SANDBOX_CONTROL_PORT'),
  };
  return { settings: Object.freeze(settings), warnings };
}

/** Validates each variable separately; an invalid one has no value. */
function readValues(env: Environment, sandbox: boolean): { values: Partial<Values>; errors: SettingsError[] } {
  const values: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const name of SETTING_NAMES) {
    const { required, secret } = describeSetting(name);
    const file = secret ? env[`${name}_FILE`] : undefined;
    // X_FILE set and X empty is what compose files tend to give: not a conflict
    if (isSet(env[name]) && isSet(file)) {
      errors.push(toError(name, `is set twice, as ${name} and as ${name}_FILE; keep one`));
      continue;
    }
    try {
      const text = isSet(file) ? fileSecret(name, file).read() : env[name] || undefined;
      const result = settingsSchema.shape[name].safeParse(text);
      if (text === undefined && required && !sandbox) errors.push(toError(name, 'is missing'));
      else if (result.success) values[name] = result.data;
      else errors.push(toError(name, toProblem(result.error)));
    } catch (error) {
      if (!(error instanceof FileUnusable)) throw error;
      errors.push({ ...toError(name, error.problem), variable: `${name}_FILE` });
    }
  }
  return { values: values as Partial<Values>, errors };
}

/** The proxy to use; without a setting the one that the environment names for every program, the lower-case name first. */
function readProxy(env: Environment, values: Partial<Values>, errors: SettingsError[]): URL | null {
  const variable = isSet(env['https_proxy']) ? 'https_proxy' : 'HTTPS_PROXY';
  const text = env[variable];
  if (isGiven(env, 'EGRESS_PROXY_URL') || !isSet(text)) return values.EGRESS_PROXY_URL ?? null;
  const { data, error } = settingsSchema.shape.EGRESS_PROXY_URL.safeParse(text);
  if (error) {
    errors.push({ ...toError('EGRESS_PROXY_URL', `${toProblem(error)} (EGRESS_PROXY_URL overrides it)`), variable });
  }
  return data ?? null;
}

const toProblem = ({ issues }: z.ZodError): string => issues[0]?.message ?? 'is wrong';

/** Rejects old names: ignoring them would silently apply a default. */
function renamed(env: Environment): SettingsError[] {
  return Object.entries(RENAMED)
    .filter(([old]) => isSet(env[old]))
    .map(([old, name]) => ({ ...toError(name, `was renamed to ${name}`), variable: old }));
}

/**
 * Client certificates that cannot be read, to be reported with other errors. Alone they are no error of the settings:
 * opening the certificate reports them, with its own exit code.
 */
function checkCertificateFiles(values: Partial<Values>): SettingsError[] {
  return (['BANK_PFX_FILE', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const).flatMap((name) => {
    const { error } = usableFile(readSmallFile).optional().safeParse(values[name]);
    return error ? [toError(name, toProblem(error))] : [];
  });
}
