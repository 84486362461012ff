import type { z } from 'zod';
import type { settingsSchema } from './settings-schema.js';

export type Values = z.output<typeof settingsSchema>;

/** Settings that are more than the value of one variable. */
interface Derived {
  /** `sandbox`: the bank is the sandbox. */
  readonly mode: 'live' | 'sandbox';
  /** By default the value of `BANK_BASE_URL`. */
  readonly BANK_AUTH_URL: string;
  /** `:*` at the end of one means any port. */
  readonly CORS_ORIGINS: readonly string[];
}

/** All settings, checked, by the names of their variables; undefined without a value and a default. */
export type Settings = Readonly<Omit<Values, keyof Derived>> & Derived;

/** The injection token of `Settings`. Never constructed. */
abstract class SettingsToken {}
export const Settings = SettingsToken;
