import { checkProduction, type Runtime } from './check-production.js';
import { checkCertificateFiles, crossCheck } from './cross-checks.js';
import { isGiven, isSet, type Environment } from './environment.js';
import { fileSecret, readSecret, textSecret, type SecretSource } from './secret-source.js';
import { SettingsInvalid, toError, type SettingsError } from './settings-error.js';
import { describeSetting, RENAMED, SETTING_NAMES, settingsSchema, type SettingName } from './settings-schema.js';
import type { BankSettings, CommonSettings, Values } from './settings.js';
import { FileUnusable } from './small-file.js';
import { ignoredNames, unknownNames } from './warnings.js';

export interface ReadOptions extends Runtime {
  /** The embedded sandbox is the bank. */
  readonly sandbox: boolean;
  /** The sandbox bank runs alone, as it may in production. */
  readonly sandboxAlone?: boolean;
  /** Facts about the environment before it is read. */
  readonly warnings?: readonly string[];
}

export interface SettingsRead {
  readonly common: CommonSettings;
  /** null when the embedded sandbox is the bank. */
  readonly bank: BankSettings | null;
  /** A sentence each. */
  readonly warnings: readonly string[];
}

/**
 * All settings (docs/settings.md), checked and frozen. An empty variable counts as not set. With `sandbox`, the settings of
 * a bank are ignored with a warning.
 * @throws SettingsInvalid with every error there is
 */
export function readSettings(env: Environment, options: ReadOptions): SettingsRead {
  const { sandbox, sandboxAlone = false } = options;
  const ignored = sandbox ? ignoredNames(env) : [];
  const used = Object.fromEntries(Object.entries(env).filter(([name]) => !ignored.includes(name)));
  const warnings = [...(options.warnings ?? []), ...unknownNames(env)];
  if (ignored.length > 0 && !sandboxAlone) {
    warnings.push(`with --sandbox these settings are ignored: ${ignored.join(', ')}`);
  }
  const { values, errors } = readValues(used, sandbox);
  const proxy = sandbox ? { url: null, errors: [] } : readProxy(used, values);
  errors.push(
    ...renamed(env),
    ...proxy.errors,
    ...crossCheck(used, values, sandbox),
    ...checkProduction(env, options, sandbox && !sandboxAlone),
  );
  if (errors.length > 0) throw new SettingsInvalid([...errors, ...checkCertificateFiles(values)], warnings);
  // without an error each value is there
  const complete = values as Values;
  const port = (name: 'SANDBOX_PORT' | 'SANDBOX_CONTROL_PORT') =>
    sandbox && !sandboxAlone && !isSet(env[name]) ? 0 : complete[name];
  const common: CommonSettings = {
    ...complete,
    production: env['NODE_ENV'] === 'production',
    EGRESS_PROXY_URL: proxy.url,
    EGRESS_NO_PROXY: complete.EGRESS_NO_PROXY ?? (env['no_proxy'] || env['NO_PROXY'] || ''),
    EGRESS_LOCAL_ADDRESS: sandbox ? undefined : complete.EGRESS_LOCAL_ADDRESS,
    REDIS_URL: isGiven(env, 'REDIS_URL') ? toSecret(env, 'REDIS_URL') : undefined,
    CORS_ORIGINS: complete.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
    SANDBOX_PORT: port('SANDBOX_PORT'),
    SANDBOX_CONTROL_PORT: port('SANDBOX_CONTROL_PORT'),
  };
  return deepFreeze({ common, bank: sandbox ? null : toBankSettings(used, complete), warnings });
}

/** Every port of this machine, where dev servers run; `*` is for this default alone, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

/** Each variable by itself; one that is wrong has no value. */
function readValues(env: Environment, sandbox: boolean): { values: Partial<Values>; errors: SettingsError[] } {
  const values: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const name of SETTING_NAMES) {
    const { required, secret } = describeSetting(name);
    const file = secret ? env[`${name}_FILE`] : undefined;
    // X_FILE set and X empty is what compose files tend to give: not a conflict
    if (isSet(env[name]) && isSet(file)) {
      errors.push(toError(name, `is given twice, as ${name} and as ${name}_FILE; keep one`));
      continue;
    }
    try {
      const text = isSet(file) ? readSecret(name, file) : env[name] || undefined;
      const result = settingsSchema.shape[name].safeParse(text);
      if (text === undefined && required && !sandbox) errors.push(toError(name, 'is missing'));
      else if (result.success) values[name] = result.data;
      else errors.push(toError(name, result.error.issues[0]?.message ?? 'is wrong'));
    } catch (error) {
      if (!(error instanceof FileUnusable)) throw error;
      const variable = `${name}_FILE`;
      errors.push({ ...toError(name, `names ${error.path}, which ${error.reason}`), variable });
    }
  }
  return { values: values as Partial<Values>, errors };
}

/** The proxy to use; without a setting the one that the environment names for every program, the lower-case name first. */
function readProxy(env: Environment, values: Partial<Values>): { url: URL | null; errors: SettingsError[] } {
  const variable = isSet(env['https_proxy']) ? 'https_proxy' : 'HTTPS_PROXY';
  const text = env[variable];
  if (isGiven(env, 'EGRESS_PROXY_URL') || !isSet(text)) return { url: values.EGRESS_PROXY_URL ?? null, errors: [] };
  const { success, data, error } = settingsSchema.shape.EGRESS_PROXY_URL.safeParse(text);
  if (success) return { url: data ?? null, errors: [] };
  const problem = `${error.issues[0]?.message ?? 'is wrong'}; EGRESS_PROXY_URL overrides it`;
  return { url: null, errors: [{ ...toError('EGRESS_PROXY_URL', problem), variable }] };
}

/** Old names. Ignored, they would silently fall back to a default. */
function renamed(env: Environment): SettingsError[] {
  return Object.entries(RENAMED)
    .filter(([old]) => isSet(env[old]))
    .map(([old, name]) => ({ ...toError(name, `is now ${name}`), variable: old }));
}

/** A secret in a file is read again when it is needed. */
function toBankSettings(env: Environment, values: Values): BankSettings {
  const baseUrl = values.BANK_BASE_URL as string;
  return {
    mode: 'live',
    BANK_BASE_URL: baseUrl,
    BANK_AUTH_URL: values.BANK_AUTH_URL ?? baseUrl,
    BANK_USERNAME: toSecret(env, 'BANK_USERNAME'),
    BANK_PASSWORD: toSecret(env, 'BANK_PASSWORD'),
    BANK_PFX_FILE: values.BANK_PFX_FILE,
    BANK_PFX_BASE64: isGiven(env, 'BANK_PFX_BASE64') ? toSecret(env, 'BANK_PFX_BASE64') : undefined,
    BANK_PFX_PASSCODE: toSecret(env, 'BANK_PFX_PASSCODE'),
    BANK_CERT_FILE: values.BANK_CERT_FILE,
    BANK_KEY_FILE: values.BANK_KEY_FILE,
    BANK_KEY_PASSPHRASE: toSecret(env, 'BANK_KEY_PASSPHRASE'),
    BANK_CA_FILE: values.BANK_CA_FILE,
  };
}

function toSecret(env: Environment, name: SettingName): SecretSource {
  const file = env[`${name}_FILE`];
  return isSet(file) ? fileSecret(name, file) : textSecret(name, env[name] ?? '');
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}
