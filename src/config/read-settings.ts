import type { z } from 'zod';
import { checkProduction, crossCheck, type Runtime } from './cross-checks.js';
import { fileSecret, type SecretSource } from './secret-source.js';
import { SettingsInvalid, toError, type SettingsError } from './settings-error.js';
import { describeSetting, SETTING_NAMES, settingsSchema, type SettingName } from './settings-schema.js';
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

/** Defaults of the sandbox in this process: any free port. */
const FREE_PORTS = { SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };

/**
 * All settings (docs/settings.md), checked and frozen. An empty variable counts as not set. With `sandbox`, the settings of
 * a bank are ignored with a warning.
 * @throws SettingsInvalid with every error there is
 */
export function readSettings(given: NodeJS.ProcessEnv, options: ReadOptions): SettingsRead {
  const { sandbox, sandboxAlone = false } = options;
  const embedded = sandbox && !sandboxAlone;
  const ignored = sandbox ? ignoredNames(given) : [];
  const used = Object.entries(given).filter(([name, text]) => text && !ignored.includes(name));
  const env: NodeJS.ProcessEnv = { ...(embedded && FREE_PORTS), ...Object.fromEntries(used) };
  const warnings = [...(options.warnings ?? []), ...unknownNames(given)];
  if (ignored.length > 0 && embedded) warnings.push(`--sandbox ignores these settings: ${ignored.join(', ')}`);

  const { values, errors } = readValues(env, sandbox);
  errors.push(...crossCheck(env, values, sandbox), ...checkProduction(env, options, embedded));
  if (errors.length > 0) throw new SettingsInvalid([...errors, ...checkCertificateFiles(values)], warnings);

  // without an error, each value is there
  const complete = values as Values;
  const source = (name: SettingName): SecretSource | undefined => {
    const [text, file] = [env[name], env[`${name}_FILE`]];
    if (file) return fileSecret(name, file);
    return text ? { file: null, read: () => text } : undefined;
  };
  const none: SecretSource = { file: null, read: () => '' };
  const baseUrl = complete.BANK_BASE_URL ?? '';
  const settings: Settings = {
    ...complete,
    mode: sandbox ? 'sandbox' : 'live',
    production: env['NODE_ENV'] === 'production',
    BANK_BASE_URL: baseUrl,
    BANK_AUTH_URL: complete.BANK_AUTH_URL ?? baseUrl,
    BANK_USERNAME: source('BANK_USERNAME') ?? none,
    BANK_PASSWORD: source('BANK_PASSWORD') ?? none,
    BANK_PFX_BASE64: source('BANK_PFX_BASE64'),
    BANK_PFX_PASSCODE: source('BANK_PFX_PASSCODE') ?? none,
    BANK_KEY_PASSPHRASE: source('BANK_KEY_PASSPHRASE') ?? none,
    EGRESS_PROXY_URL: complete.EGRESS_PROXY_URL ?? null,
    EGRESS_NO_PROXY: complete.EGRESS_NO_PROXY ?? '',
    REDIS_URL: source('REDIS_URL'),
    CORS_ORIGINS: complete.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
  };
  return { settings: Object.freeze(settings), warnings };
}

/** Validates each setting separately; an invalid one has no value. */
function readValues(env: NodeJS.ProcessEnv, sandbox: boolean): { values: Partial<Values>; errors: SettingsError[] } {
  const values: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const name of SETTING_NAMES) {
    const { required, secret, inherits = [] } = describeSetting(name);
    const file = `${name}_FILE`;
    const variables = [name, ...(secret ? [file] : []), ...(sandbox ? [] : inherits)];
    const [variable = name, other] = variables.filter((each) => env[each]);
    const text = env[variable];
    const refuse = (problem: string) => errors.push({ ...toError(name, problem), variable });
    if (other === file) refuse(`is set twice, as ${name} and as ${file}; keep one`);
    else if (text === undefined && required && !sandbox) refuse('is missing');
    else {
      try {
        const content = text && variable === file ? fileSecret(name, text).read() : text;
        const { data, error } = settingsSchema.shape[name].safeParse(content);
        if (error) refuse(toProblem(error) + (inherits.includes(variable) ? ` (${name} overrides it)` : ''));
        else values[name] = data;
      } catch (error) {
        if (!(error instanceof FileUnusable)) throw error;
        refuse(error.problem);
      }
    }
  }
  return { values: values as Partial<Values>, errors };
}

const toProblem = ({ issues }: z.ZodError): string => issues[0]?.message ?? 'is wrong';

/**
 * Client certificates that cannot be read, to be reported with other errors. Alone they are no error of the settings:
 * opening the certificate reports them, with its own exit code.
 */
function checkCertificateFiles(values: Partial<Values>): SettingsError[] {
  return (['BANK_PFX_FILE', 'BANK_CERT_FILE', 'BANK_KEY_FILE'] as const).flatMap((name) => {
    try {
      if (values[name]) readSmallFile(values[name]);
      return [];
    } catch (error) {
      return [toError(name, (error as FileUnusable).problem)];
    }
  });
}
