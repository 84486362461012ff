import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { checkCertificateFiles, checkProduction, crossCheck, examineCertificates } from './cross-checks.js';
import type { SecretSource } from './kinds.js';
import { SettingsInvalid, toError, type SettingsError } from './settings-error.js';
import {
  BANK_NAMES,
  describeSetting,
  KNOWN_NAMES,
  SETTING_NAMES,
  settingsSchema,
  usedNames,
  type Command,
  type SettingName,
} from './settings-schema.js';
import type { Settings, Values } from './settings.js';
import { FileUnusable, hintOf, hintOfPath, readSecretFile } from '../files/small-file.js';

export interface ReadOptions {
  /** True if the sandbox is the bank. */
  readonly sandbox: boolean;
  /** Default: `serve`. Invalid settings that a command does not use cannot prevent its start. */
  readonly command?: Command;
  /** Earlier warnings, reported together with the others. */
  readonly warnings?: readonly string[];
}

export interface SettingsRead {
  readonly settings: Settings;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Every port on this machine, where dev servers run; `*` is valid only in this default, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

/** Defaults of the sandbox in this process: any free port. */
const FREE_PORTS = { SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };

/**
 * All settings (docs/settings.md). An empty variable counts as not set. With `sandbox`, the settings of a bank are ignored,
 * and set once the sandbox runs (cli/embedded-sandbox.ts).
 * @throws SettingsInvalid with all errors
 */
export function readSettings(given: NodeJS.ProcessEnv, options: ReadOptions): SettingsRead {
  const { sandbox, command = 'serve' } = options;
  const isEmbedded = sandbox && command !== 'sandbox';
  const ignored = sandbox ? KNOWN_NAMES.filter((name) => given[name] && isOfBank(name)) : [];
  const set = Object.entries(given).filter(([name, text]) => text && !ignored.includes(name));
  const env: NodeJS.ProcessEnv = { ...(isEmbedded && FREE_PORTS), ...Object.fromEntries(set) };
  const warnings = [...unknownNames(given), ...(options.warnings ?? [])];
  if (ignored.length > 0 && isEmbedded) warnings.push(`--sandbox ignores these settings: ${ignored.join(', ')}`);

  const used = usedNames(command, sandbox);
  // the doctor is asked why the gateway does not start, too
  const preventsServe = (name: SettingName) => command === 'doctor' && usedNames('serve', sandbox).has(name);
  const read = SETTING_NAMES.map((name) => ({ name, ...readValue(env, name, sandbox) }));
  warnings.push(...read.flatMap(({ warning }) => warning ?? []));
  const values: Partial<Values> = Object.fromEntries(read.map(({ name, value }) => [name, value]));
  const combined = crossCheck(env, values, sandbox);
  const found = [...read, ...combined.map((error) => ({ name: error.variable as SettingName, error }))];
  const errors: SettingsError[] = [];
  for (const { name, error } of found) {
    if (!error) continue;
    if (used.has(name)) errors.push(error);
    else if (preventsServe(name)) warnings.push(`${error.variable} ${error.problem}; the gateway does not start`);
  }
  errors.push(...checkProduction(env, isEmbedded));
  if (errors.length > 0) {
    const all = [...errors, ...checkCertificateFiles(values)];
    throw new SettingsInvalid(all, warnings, env['NODE_ENV'] === 'production');
  }

  if (command === 'serve' || command === 'doctor') warnings.push(...examineCertificates(values));
  // without errors every required value is set, except those of the bank if the sandbox replaces it
  const complete = values as Values;
  const settings: Settings = {
    ...complete,
    mode: sandbox ? 'sandbox' : 'live',
    BANK_AUTH_URL: complete.BANK_AUTH_URL ?? complete.BANK_BASE_URL,
    CORS_ORIGINS: complete.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
  };
  return { settings: Object.freeze(settings), warnings };
}

/** True for the variables that are ignored with the sandbox. */
const isOfBank = (variable: string): boolean => BANK_NAMES.some((name) => [name, `${name}_FILE`].includes(variable));

const PREFIXES = [...new Set(KNOWN_NAMES.flatMap((name) => /^[A-Z]+_/.exec(name) ?? []))];

/** Warns of unknown variables with one of our prefixes, with the nearest setting. */
export function unknownNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((name) => {
    const prefix = PREFIXES.find((each) => name.startsWith(each));
    if (prefix === undefined || KNOWN_NAMES.includes(name)) return [];
    const nearest = closest(name, [...KNOWN_NAMES]);
    // Kubernetes sets REDIS_PORT and similar variables for a service of that name
    if (prefix === 'REDIS_' && distance(name, nearest) > 2) return [];
    return [`${name} is not a setting and is ignored (did you mean ${nearest}?)`];
  });
}

interface ValueRead {
  /** If the value is invalid, the default, or undefined without one. */
  readonly value?: unknown;
  readonly error?: SettingsError;
  readonly warning?: string;
}

/** The value of one setting; undefined if it is not set and has no default. */
function readValue(env: NodeJS.ProcessEnv, name: SettingName, sandbox: boolean): ValueRead {
  const { required, secret, inherits = [] } = describeSetting(name);
  const file = `${name}_FILE`;
  const variables = [name, ...(secret ? [file] : []), ...(sandbox ? [] : inherits)];
  const [variable = name, other] = variables.filter((each) => env[each]);
  const text = env[variable]?.replace(/^\ufeff/, '');
  const reject = (problem: string): ValueRead => ({
    value: settingsSchema.shape[name].safeParse(undefined).data,
    error: toError(name, problem, text, variable),
  });
  if (other === file) return reject(`is set twice, as ${name} and as ${file}; keep one`);
  if (required && text === undefined) return sandbox ? {} : reject('is missing');
  try {
    const source = variable === file && text ? fileSecret(name, text) : null;
    const given = source ? source.read() : text;
    const { data, error } = settingsSchema.shape[name].safeParse(given);
    const path = /_(?:FILE|DIRECTORY)$/.test(variable) ? text : undefined;
    const hint = (path && hintOfPath(path)) || (given && hintOf(given, secret === true));
    if (error) {
      const override = inherits.includes(variable) ? ` (${name} overrides it)` : '';
      // the error of a file already has the hint about its path
      const because = hint && !path ? `; its value ${hint}` : '';
      return reject(toProblem(error) + override + because);
    }
    const warning = hint ? `the ${source ? 'text in the file' : 'value'} of ${variable} ${hint}` : undefined;
    return { value: source && isSource(data) ? source : data, ...(warning && { warning }) };
  } catch (error) {
    if (error instanceof FileUnusable) return reject(error.problem);
    throw error;
  }
}

/** A secret in a file, checked against its setting's rule each time it is read. */
export function fileSecret(name: SettingName, file: string): SecretSource {
  return {
    file,
    read: () => {
      const text = readSecretFile(file);
      const { error } = settingsSchema.shape[name].safeParse(text);
      const hint = error && hintOf(text, true);
      if (error) throw new FileUnusable(file, toProblem(error) + (hint ? `; its text ${hint}` : ''));
      return text;
    },
  };
}

const isSource = (value: unknown): value is SecretSource =>
  typeof value === 'object' && value !== null && 'read' in value;

const toProblem = ({ issues }: z.ZodError): string => issues[0]?.message ?? 'is wrong';
