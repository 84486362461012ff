import { fileSecret } from '../config/secret-source.js';
import type { Settings } from '../config/settings.js';
import type { Sandbox, SandboxSettings } from '../sandbox/sandbox.js';

/** The settings with this sandbox as the bank: the same files that an operator would point them at. */
export function withSandboxBank(settings: Settings, { url, authUrl, files }: Sandbox): Settings {
  return {
    ...settings,
    BANK_BASE_URL: url,
    BANK_AUTH_URL: authUrl,
    BANK_USERNAME: fileSecret('BANK_USERNAME', files.username),
    BANK_PASSWORD: fileSecret('BANK_PASSWORD', files.password),
    BANK_PFX_FILE: files.pfx,
    BANK_PFX_PASSCODE: fileSecret('BANK_PFX_PASSCODE', files.passcode),
    BANK_CA_FILE: files.ca,
  };
}

/** The SANDBOX_* settings as the sandbox takes them, which knows nothing of the gateway. */
export function toSandboxOptions(settings: Settings): SandboxSettings {
  const { SANDBOX_PORT: port, SANDBOX_AUTH_PORT: authPort } = settings;
  return {
    host: settings.SANDBOX_HOST,
    port,
    authPort: authPort === undefined || authPort === port ? null : authPort,
    controlPort: settings.SANDBOX_CONTROL_PORT,
    names: settings.SANDBOX_NAMES,
    directory: settings.SANDBOX_DIRECTORY,
    accounts: settings.SANDBOX_ACCOUNTS,
    seed: settings.SANDBOX_SEED,
    tokenLifetimeSeconds: settings.SANDBOX_TOKEN_LIFETIME_SECONDS,
    latencyMs: settings.SANDBOX_LATENCY_MS,
    allowedIps: settings.SANDBOX_ALLOWED_IPS,
  };
}
