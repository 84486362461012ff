import type { Sandbox } from './sandbox.js';

type Shown = Pick<Sandbox, 'url' | 'authUrl' | 'controlUrl' | 'directory' | 'files' | 'isIdentityReplaced'>;

/** Addresses and files of a sandbox, to show on a terminal. */
export function sandboxAddresses({ url, authUrl, controlUrl, directory, isIdentityReplaced }: Shown): string {
  return [
    `Sandbox bank: a pretend bank, no real money, no real accounts.`,
    ``,
    `  accounts  ${url}`,
    `  tokens    ${authUrl}`,
    `  switches  ${controlUrl}/control`,
    `  files     ${directory}  (ca.pem client.pfx passcode username password)`,
    ...(isIdentityReplaced ? [`            all of them are new, because the earlier ones could not be used`] : []),
    ``,
  ].join('\n');
}

/** Greeting for a terminal: addresses, settings and commands to paste. Secrets appear only as paths. */
export function sandboxGreeting(sandbox: Shown): string {
  const { url, authUrl, controlUrl, files } = sandbox;
  const certificate =
    `--cacert ${quote(files.ca)} --cert-type P12 ` +
    `--cert ${quote(files.pfx.replace(/[\\:]/g, '\\$&'))}:"$(cat ${quote(files.passcode)})"`;
  const user = `-u "$(cat ${quote(files.username)}):$(cat ${quote(files.password)})"`;
  const token = `curl -sS ${certificate} ${user} -H 'Content-Type: application/json' ${authUrl}/api/v1/authorizations/authorize`;
  const order = `{"failNext":{"endpoint":"accounts","times":2,"with":"503"}}`;
  return [
    sandboxAddresses(sandbox),
    `Settings for a gateway in front of it, for .env:`,
    ``,
    `BANK_BASE_URL=${url}`,
    ...(authUrl === url ? [] : [`BANK_AUTH_URL=${authUrl}`]),
    `BANK_CA_FILE=${quote(files.ca)}`,
    `BANK_PFX_FILE=${quote(files.pfx)}`,
    `BANK_PFX_PASSCODE_FILE=${quote(files.passcode)}`,
    `BANK_USERNAME_FILE=${quote(files.username)}`,
    `BANK_PASSWORD_FILE=${quote(files.password)}`,
    ``,
    `A token:`,
    ``,
    token,
    ``,
    `The accounts, with a token:`,
    ``,
    `TOKEN=$(${token} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl -sS ${certificate} -H 'Accept: application/json' -H "Authorization: Bearer $TOKEN" ${quote(`${url}/api/v1/accounts?PageNumber=1&PageSize=2`)}`,
    ``,
    `To make the next calls for accounts fail, to show the state, and to reset everything:`,
    ``,
    `curl -sS -X PATCH -H 'Content-Type: application/json' -d ${quote(order)} ${controlUrl}/control`,
    `curl -sS ${controlUrl}/control`,
    `curl -sS -X DELETE ${controlUrl}/control`,
    ``,
  ].join('\n');
}

/** Quotes a value for a POSIX shell. */
function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
