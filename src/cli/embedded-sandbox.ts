import { fileSecret } from '../config/read-settings.js';
import type { Settings } from '../config/settings.js';
import type { SandboxOptions } from '../sandbox/sandbox.js';

/** Starts the sandbox bank in this process. Returns it with settings that lead to it. @throws SandboxNotStarted */
export async function startEmbeddedSandbox(settings: Settings, options?: SandboxOptions) {
  // a gateway in front of a real bank does not load it
  const { startSandbox } = await import('../sandbox/sandbox.js');
  const sandbox = await startSandbox(settings, options);
  const { url, authUrl, files } = sandbox;
  const bank = {
    BANK_BASE_URL: url,
    BANK_AUTH_URL: authUrl,
    BANK_USERNAME: fileSecret('BANK_USERNAME', files.username),
    BANK_PASSWORD: fileSecret('BANK_PASSWORD', files.password),
    BANK_PFX_FILE: files.pfx,
    BANK_PFX_PASSCODE: fileSecret('BANK_PFX_PASSCODE', files.passcode),
    BANK_CA_FILE: files.ca,
  };
  return { sandbox, settings: { ...settings, ...bank } };
}
