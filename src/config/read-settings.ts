import type { z } from 'zod';
import { checkProduction, crossCheck, type Runtime } from './cross-checks.js';
import type { SecretSource } from './kinds.js';
import { SettingsInvalid, toError, withOtherExample, type SettingsError } from './settings-error.js';
import {
  describeSetting,
  SETTING_NAMES,
  settingsSchema,
  usedNames,
  type Command,
  type SettingName,
} from './settings-schema.js';
import type { Settings, SettingsWithoutBank, Values } from './settings.js';
import { FileUnusable, readSecretFile, readSmallFile } from './small-file.js';
import { ignoredNames, unknownNames } from './warnings.js';

export interface ReadOptions extends Runtime {
  /** The sandbox is the bank. */
  readonly sandbox: boolean;
  /** Default: `serve`. Settings that it does not use cannot stop its start. */
  readonly command?: Command;
  /** Warnings of what was read before, reported with the others. */
  readonly warnings?: readonly string[];
}

export interface SettingsRead<Read = Settings | SettingsWithoutBank> {
  readonly settings: Read;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Every port of this machine, where dev servers run; `*` is for this default alone, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

const NO_BANK = {
  BANK_BASE_URL: undefined,
  BANK_AUTH_URL: undefined,
  BANK_USERNAME: undefined,
  BANK_PASSWORD: undefined,
};

/** Defaults of the sandbox in this process: any free port. */
const FREE_PORTS = { SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };

/**
 * All settings (docs/settings.md), checked and frozen. An empty variable counts as not set. With `sandbox`, the settings of
 * a bank are ignored with a warning.
 * @throws SettingsInvalid with every error there is
 */
export function readSettings(
  given: NodeJS.ProcessEnv,
  options: ReadOptions & { readonly sandbox: false },
): SettingsRead<Settings>;
export function readSettings(given: NodeJS.ProcessEnv, options: ReadOptions): SettingsRead;
export function readSettings(given: NodeJS.ProcessEnv, options: ReadOptions): SettingsRead {
  const { sandbox, command = 'serve' } = options;
  const embedded = sandbox && command !== 'sandbox';
  const ignored = sandbox ? ignoredNames(given) : [];
  const set = Object.entries(given).filter(([name, text]) => text && !ignored.includes(name));
  const env: NodeJS.ProcessEnv = { ...(embedded && FREE_PORTS), ...Object.fromEntries(set) };
  const warnings = [...unknownNames(given), ...(options.warnings ?? [])];
  if (ignored.length > 0 && embedded) warnings.push(`--sandbox ignores these settings: ${ignored.join(', ')}`);

  const used = usedNames(command, sandbox);
  const read = SETTING_NAMES.map((name) => ({ name, ...readValue(env, name, sandbox) }));
  warnings.push(...read.flatMap(({ warning }) => warning ?? []));
  for (const { name, error } of read) {
    if (error && !used.has(name)) warnings.push(`${error.variable} ${error.problem}; it is not used here`);
  }
  const values: Partial<Values> = Object.fromEntries(
    read.map(({ name, value, error }) => [name, error ? toDefault(name) : value]),
  );
  const errors = [
    ...read.flatMap(({ name, error }) => (error && used.has(name) ? error : [])),
    ...crossCheck(env, values, { command, sandbox }),
    ...checkProduction(env, options, embedded),
  ];
  if (errors.length > 0) throw new SettingsInvalid([...errors, ...checkCertificateFiles(values)], warnings);

  // without an error every value is set, except the bank's if the sandbox replaces the bank
  const complete = values as Values;
  const origins = complete.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []);
  const settings: Settings | SettingsWithoutBank = sandbox
    ? { ...complete, ...NO_BANK, mode: 'sandbox', CORS_ORIGINS: origins }
    : {
        ...complete,
        BANK_AUTH_URL: complete.BANK_AUTH_URL ?? complete.BANK_BASE_URL,
        mode: 'live',
        CORS_ORIGINS: origins,
      };
  return { settings: Object.freeze(settings), warnings };
}

interface ValueRead {
  readonly value?: unknown;
  readonly error?: SettingsError;
  readonly warning?: string;
}

/** The default of a setting; undefined where it has none. */
const toDefault = (name: SettingName): unknown => settingsSchema.shape[name].safeParse(undefined).data;

/** The value of one setting; undefined where it is not set and has no default. */
function readValue(env: NodeJS.ProcessEnv, name: SettingName, sandbox: boolean): ValueRead {
  const { required, secret, inherits = [] } = describeSetting(name);
  const file = `${name}_FILE`;
  const variables = [name, ...(secret ? [file] : []), ...(sandbox ? [] : inherits)];
  const [variable = name, other] = variables.filter((each) => env[each]);
  const text = env[variable]?.replace(/^\ufeff/, '');
  const refuse = (problem: string) => ({ error: withOtherExample({ ...toError(name, problem), variable }, text) });
  if (other === file) return refuse(`is set twice, as ${name} and as ${file}; keep one`);
  if (required && text === undefined) return sandbox ? {} : refuse('is missing');
  try {
    const source = variable === file && text ? fileSecret(name, text) : null;
    const given = source ? source.read() : text;
    const { data, error } = settingsSchema.shape[name].safeParse(given);
    if (error) return refuse(toProblem(error) + (inherits.includes(variable) ? ` (${name} overrides it)` : ''));
    const quoted = secret && given !== undefined && /^(["'`]).*\1$/s.test(given);
    const warning = `the value of ${variable} begins and ends with a quote, which is sent as part of it; leave the quotes out if they are not (docker run --env-file keeps them)`;
    return { value: source && isSource(data) ? source : data, ...(quoted && { warning }) };
  } catch (error) {
    if (error instanceof FileUnusable) return refuse(error.problem);
    throw error;
  }
}

/** A secret in a file, checked by the rule of its setting each time it is read. */
export function fileSecret(name: SettingName, file: string): SecretSource {
  return {
    file,
    read: () => {
      const text = readSecretFile(file);
      const { error } = settingsSchema.shape[name].safeParse(text);
      if (error) throw new FileUnusable(file, toProblem(error));
      return text;
    },
  };
}

const isSource = (value: unknown): value is SecretSource =>
  typeof value === 'object' && value !== null && 'read' in value;

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
      return [withOtherExample(toError(name, (error as FileUnusable).problem), values[name])];
    }
  });
}
