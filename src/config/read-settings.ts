import { existsSync } from 'node:fs';
import { checkProduction, type Runtime } from './check-production.js';
import { checkPfxFile, checkTogether } from './check-together.js';
import { isSet, type Environment } from './environment.js';
import { readSecret } from './secret-source.js';
import { toFault, type Fault } from './fault.js';
import type { BankSettings, CommonSettings, Values } from './settings.js';
import { FileUnusable } from './small-file.js';
import { toBankSettings, toCommonSettings } from './derive-settings.js';
import { describeSetting, KNOWN_NAMES, RENAMED, SETTING_NAMES, settingsSchema } from './settings-schema.js';
import { markedFiles, openFiles, unknownNames } from './warnings.js';

/** All that is wrong with the settings, together. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  constructor(
    readonly faults: readonly Fault[],
    /** What may explain a fault, such as a misspelt name. */
    readonly warnings: readonly string[] = [],
  ) {
    super(faults.map((fault) => `${fault.variable} ${fault.problem}`).join('; '));
  }
}

export interface ReadOptions extends Runtime {
  /** The embedded sandbox is the bank. */
  readonly sandbox: boolean;
  /** The sandbox bank runs alone, as it may in production. */
  readonly sandboxAlone?: boolean;
  /** The file that some of the environment was read from. */
  readonly envFile?: string;
}

/** What a good reading gives: the settings, and warnings about them, a sentence each. */
export interface SettingsRead {
  readonly common: CommonSettings;
  /** null when the embedded sandbox is the bank. */
  readonly bank: BankSettings | null;
  readonly warnings: readonly string[];
}

/**
 * Reads all settings (docs/settings.md), and gives them frozen. An empty variable counts as not set. With `sandbox`, the
 * settings that say which bank to talk to are left out with a warning.
 * @throws SettingsInvalid with every fault there is
 */
export function readSettings(env: Environment, options: ReadOptions): SettingsRead {
  const { sandbox, sandboxAlone = false, envFile } = options;
  const warnings = unknownNames(env);
  const ignored = sandbox ? KNOWN_NAMES.filter((name) => isOfTheBank(name) && isSet(env[name])) : [];
  if (ignored.length > 0 && !sandboxAlone) {
    warnings.push(`with --sandbox these settings are ignored: ${ignored.join(', ')}`);
  }
  const present = Object.fromEntries(Object.entries(env).filter(([name]) => !ignored.includes(name)));
  warnings.push(...openFiles(present, envFile), ...markedFiles(present, envFile));

  const { values, faults } = readValues(present, sandbox);
  faults.push(...oldNames(env));
  faults.push(...checkTogether(present, values, sandbox), ...checkProduction(env, options, sandbox && !sandboxAlone));
  if (faults.length > 0) {
    const missing = faults.some(({ problem }) => problem.endsWith('is missing'));
    if (missing && envFile !== undefined && !existsSync(envFile))
      warnings.push(`there is no ${envFile} in ${process.cwd()}`);
    throw new SettingsInvalid([...faults, ...checkPfxFile(values, faults)], warnings);
  }
  // without a fault each value is there
  const complete = values as Values;
  return deepFreeze({
    common: toCommonSettings(env, complete, sandbox),
    bank: sandbox ? null : toBankSettings(present, complete),
    warnings,
  });
}

const isOfTheBank = (name: string): boolean =>
  SETTING_NAMES.some((each) => describeSetting(each).group === 'bank' && (name === each || name === `${each}_FILE`));

/** Settings under the names that they once had; ignored, they would silently fall back to their defaults. */
function oldNames(env: Environment): Fault[] {
  return Object.entries(RENAMED)
    .filter(([old]) => isSet(env[old]))
    .map(([old, name]) => ({ variable: old, problem: `is now ${name}`, example: `${name}=${env[old]}` }));
}

/** Each variable by itself; one that is wrong has no value. */
function readValues(env: Environment, sandbox: boolean): { values: Partial<Values>; faults: Fault[] } {
  const values: Record<string, unknown> = {};
  const faults: Fault[] = [];
  for (const name of SETTING_NAMES) {
    const { unset, secret } = describeSetting(name);
    const file = secret ? env[`${name}_FILE`] : undefined;
    // X_FILE set and X empty is what compose files tend to give: not a conflict
    if (isSet(env[name]) && isSet(file)) {
      faults.push(toFault(name, `is given twice, as ${name} and as ${name}_FILE; keep one`));
      continue;
    }
    try {
      const text = isSet(file) ? readSecret(name, file) : env[name] || undefined;
      const result = settingsSchema.shape[name].safeParse(text);
      if (text === undefined && unset === 'required' && !sandbox) faults.push(toFault(name, 'is missing'));
      else if (result.success) values[name] = result.data;
      else faults.push(toFault(name, result.error.issues[0]?.message ?? 'is wrong'));
    } catch (error) {
      if (!(error instanceof FileUnusable)) throw error;
      const problem = `names ${error.path}, which ${error.reason}`;
      faults.push({ variable: `${name}_FILE`, problem });
    }
  }
  return { values: values as Partial<Values>, faults };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}
