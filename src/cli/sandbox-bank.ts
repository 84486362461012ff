import type { Sandbox } from '../sandbox/sandbox.js';
import { fileSecret } from '../config/environment.js';
import type { BankSettings } from '../config/settings.js';

/** The embedded sandbox as the bank to talk to: the same files that an operator would point the settings at. */
export function toSandboxBank({ url, authUrl, files }: Sandbox): BankSettings {
  return {
    mode: 'sandbox',
    baseUrl: url,
    authUrl,
    identity: {
      username: fileSecret('BANK_USERNAME', files.username),
      password: fileSecret('BANK_PASSWORD', files.password),
      pfx: { file: files.pfx },
      passcode: fileSecret('BANK_PFX_PASSCODE', files.passcode),
      caFile: files.ca,
    },
  };
}
