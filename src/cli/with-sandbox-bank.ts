import { fileSecret } from '../config/read-settings.js';
import type { Settings } from '../config/settings.js';
import type { Sandbox } from '../sandbox/sandbox.js';

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
