import { isGiven, isSet, type Environment } from './environment.js';
import { fileSecret, textSecret, type SecretSource } from './secret-source.js';
import { settingsSchema, type SettingName } from './settings-schema.js';
import type { BankSettings, CommonSettings, Values } from './settings.js';

/** Every port of this machine, where dev servers run; `*` is for this default alone, not for operators. */
const LOCAL_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*'];

/** With `sandbox`, calls go direct whatever proxy or address is set. */
export function toCommonSettings(env: Environment, values: Values, sandbox: boolean): CommonSettings {
  return {
    ...values,
    production: env['NODE_ENV'] === 'production',
    EGRESS_PROXY_URL: sandbox ? null : toProxy(env, values),
    EGRESS_NO_PROXY: values.EGRESS_NO_PROXY ?? (env['no_proxy'] || env['NO_PROXY'] || ''),
    EGRESS_LOCAL_ADDRESS: sandbox ? undefined : values.EGRESS_LOCAL_ADDRESS,
    REDIS_URL: isGiven(env, 'REDIS_URL') ? toSecret(env, 'REDIS_URL') : undefined,
    CORS_ORIGINS: values.CORS_ORIGINS ?? (sandbox ? LOCAL_ORIGINS : []),
  };
}

/** The bank of the settings, which are complete; a secret in a file is read when it is needed. */
export function toBankSettings(env: Environment, values: Values): BankSettings {
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

function toProxy(env: Environment, values: Values): URL | null {
  return values.EGRESS_PROXY_URL === undefined ? (inheritedProxy(env).result?.data ?? null) : values.EGRESS_PROXY_URL;
}

/** The proxy that the environment names for every program; the lower-case name comes first, as elsewhere. */
export function inheritedProxy(env: Environment) {
  const variable = isSet(env['https_proxy']) ? 'https_proxy' : 'HTTPS_PROXY';
  const text = env[variable];
  return { variable, result: isSet(text) ? settingsSchema.shape.EGRESS_PROXY_URL.safeParse(text) : null };
}
