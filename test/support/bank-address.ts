/** A bank for a gateway under test: the sandbox or the pretend bank. */
export interface BankAddress {
  readonly url: string;
  readonly authUrl: string;
  readonly files: {
    readonly ca: string;
    readonly pfx: string;
    readonly passcode: string;
    readonly username: string;
    readonly password: string;
  };
}

/** The settings for a bank, as an operator would write them. */
export function toEnvironment({ url, authUrl, files }: BankAddress): Record<string, string> {
  return {
    BANK_BASE_URL: url,
    BANK_AUTH_URL: authUrl,
    BANK_USERNAME_FILE: files.username,
    BANK_PASSWORD_FILE: files.password,
    BANK_PFX_FILE: files.pfx,
    BANK_PFX_PASSCODE_FILE: files.passcode,
    BANK_CA_FILE: files.ca,
  };
}
