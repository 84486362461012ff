import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../../src/time/clock.js';
import { examineWith, expectFailed, type Verdict } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { json, type Handler, type PretendBank } from '../support/pretend-bank.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret } from '../support/common-conditions.js';
import { expired } from '../support/authority.js';
import { listSample, PLANTED, sampleAccount } from '../support/sample-accounts.js';

const bank = await bankForFile();

type Env = Record<string, string>;

/** How the bank or the settings differ, and the report: step, code and owner, problem, remedy. */
type Case = [
  name: string,
  change: { env?: (bank: PretendBank) => Env | Promise<Env>; onToken?: Handler; onAccounts?: Handler },
  verdict: Verdict,
  problem: RegExp,
  remedy: RegExp,
];

const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    json(response, status, body, headers);

const hang: Handler = () => undefined;
const html = answer(200, `<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' });

const file = (bank: PretendBank, name: string, content: string | Buffer): string => {
  const path = join(bank.directory, name);
  writeFileSync(path, content);
  return path;
};

const CASES: readonly Case[] = [
  [
    'a setting missing',
    { env: () => ({ BANK_BASE_URL: '' }) },
    'settings: config-invalid, operator',
    /^BANK_BASE_URL is missing\.$/,
    /environment or in \.env.*BANK_BASE_URL=https:\/\/api\.bank\.example/,
  ],
  [
    'a CA file that does not exist, and another fault',
    { env: () => ({ BANK_CA_FILE: '/no/such/ca.pem', BANK_PAGE_SIZE: '0' }) },
    'settings: config-invalid, operator',
    /(?=.*BANK_CA_FILE points to \/no\/such\/ca\.pem)(?=.*BANK_PAGE_SIZE)/,
    /for example .*BANK_PAGE_SIZE=1000/,
  ],
  [
    'a password whose example names its file',
    { env: () => ({ BANK_PASSWORD_FILE: '' }) },
    'settings: config-invalid, operator',
    /^BANK_PASSWORD is missing\.$/,
    /for example BANK_PASSWORD_FILE=\/run/,
  ],
  [
    'a proxy password that needs percent-encoding',
    { env: () => ({ EGRESS_PROXY_URL: 'http://user:secret-#x@proxy.example:3128' }) },
    'settings: config-invalid, operator',
    /EGRESS_PROXY_URL is not an address; percent-encode user and password.*# as %23/,
    /EGRESS_PROXY_URL=http/,
  ],
  [
    'a CA file that is none',
    { env: (bank) => ({ BANK_CA_FILE: file(bank, 'not-ca.pem', 'hello') }) },
    'settings: config-invalid, operator',
    /BANK_CA_FILE.*contains no PEM certificate/,
    /BANK_CA_FILE/,
  ],
  [
    'no PFX there',
    { env: () => ({ BANK_PFX_FILE: '/no/such.pfx' }) },
    'certificate: pfx-unreadable, operator',
    /\/no\/such\.pfx, which does not exist/,
    /Correct the path/,
  ],
  [
    'a wrong passcode',
    { env: () => ({ BANK_PFX_PASSCODE_FILE: '', BANK_PFX_PASSCODE: 'secret-wrong-one' }) },
    'certificate: pfx-unreadable, operator',
    /passcode/,
    /BANK_PFX_PASSCODE/,
  ],
  [
    'noise for a PFX',
    { env: (bank) => ({ BANK_PFX_FILE: file(bank, 'noise.pfx', Buffer.alloc(500, 7)) }) },
    'certificate: pfx-unreadable, operator',
    /\S/,
    /Use the PFX/,
  ],
  [
    'a certificate that has expired',
    {
      env: async (bank) => {
        const { pfx, passcode } = await bank.issueClient('old', expired());
        return {
          BANK_PFX_FILE: file(bank, 'old.pfx', pfx),
          BANK_PFX_PASSCODE_FILE: file(bank, 'old-passcode', passcode),
        };
      },
    },
    'certificate: certificate-unusable, operator',
    /expired on 20/,
    /Ask the bank for a new certificate.*thumbprint [0-9A-F]{40}/,
  ],
  [
    'a certificate that is not valid yet',
    {
      env: async (bank) => {
        const soon = { notBefore: new Date(Date.now() + 86_400_000), notAfter: new Date(Date.now() + 9e9) };
        const { pfx, passcode } = await bank.issueClient('new', soon);
        return {
          BANK_PFX_FILE: file(bank, 'new.pfx', pfx),
          BANK_PFX_PASSCODE_FILE: file(bank, 'new-passcode', passcode),
        };
      },
    },
    'certificate: certificate-unusable, operator',
    /not valid before/,
    /clock of this machine/,
  ],
  [
    'a wrong password',
    { onToken: answer(401) },
    'token: credentials-rejected, operator',
    /answered 401.*allowlist/,
    /BANK_USERNAME and BANK_PASSWORD/,
  ],
  [
    'an address that is not allowed',
    { onToken: answer(403) },
    'token: address-not-allowed, operator',
    /answered 403/,
    /public address.*to the allowlist/,
  ],
  [
    'not the token endpoint',
    { onToken: answer(404) },
    'token: bank-refused, operator',
    /answered 404/,
    /BANK_AUTH_URL/,
  ],
  [
    'a token endpoint that fails',
    { onToken: answer(503) },
    'token: bank-error, bank',
    /answered 503/,
    /token service is up/,
  ],
  [
    'a token endpoint that hangs',
    { onToken: hang },
    'token: bank-timeout, bank',
    /within 700 ms/,
    /BANK_REQUEST_TIMEOUT_MS/,
  ],
  [
    'a token endpoint that asks to slow down',
    { onToken: answer(429) },
    'token: bank-rate-limited, bank',
    /429/,
    /limit/,
  ],
  [
    'a page in place of a token',
    { onToken: html },
    'token: bank-response-invalid, bank',
    /not JSON/,
    /portal or a proxy/,
  ],
  [
    'a token endpoint that hangs up on every request',
    { onToken: (request) => void request.socket.destroy() },
    'tls: certificate-rejected, operator',
    /closed the connection before its first answer/,
    /thumbprint [0-9A-F]{40}/,
  ],
  [
    'no grant',
    { onAccounts: answer(404) },
    'accounts: access-not-granted, bank',
    /answered 404.*BANK_BASE_URL/,
    /grant the M2M user access/,
  ],
  [
    'an account list that refuses the token',
    { onAccounts: answer(401) },
    'accounts: bank-refused, operator',
    /401/,
    /Check BANK_BASE_URL and BANK_AUTH_URL/,
  ],
  [
    'an account list that hangs',
    { onAccounts: hang },
    'accounts: bank-timeout, bank',
    /within 700 ms/,
    /account service/,
  ],
  [
    'an account list that never becomes complete',
    { env: () => ({ SNAPSHOT_READ_TIMEOUT_MS: '300' }), onAccounts: hang },
    'accounts: bank-timeout, bank',
    /SNAPSHOT_READ_TIMEOUT_MS/,
    /account service/,
  ],
  [
    'an account list that fails',
    { onAccounts: answer(500, PLANTED.text) },
    'accounts: bank-error, bank',
    /answered 500/,
    /account service is up/,
  ],
  [
    'an answer that is too large',
    { env: () => ({ BANK_MAX_RESPONSE_BYTES: '1024' }), onAccounts: listSample(20) },
    'accounts: bank-response-invalid, bank',
    /BANK_MAX_RESPONSE_BYTES/,
    /BANK_PAGE_SIZE/,
  ],
  [
    'a page in place of the list',
    { onAccounts: html },
    'shape: bank-response-invalid, bank',
    /not JSON/,
    /BANK_BASE_URL/,
  ],
  [
    'an account of another shape',
    { onAccounts: answer(200, { result: [sampleAccount(1), sampleAccount(2, { balances: 'none' })] }) },
    'shape: bank-response-invalid, bank',
    /result\[1\]\.balances is not an array/,
    /what has changed/,
  ],
];

describe('the doctor names the refusal', () => {
  it.each(CASES)('%s', async (_name, { env, onToken, onAccounts }, verdict, problem, remedy) => {
    if (onToken) bank.onToken = onToken;
    if (onAccounts) bank.onAccounts = onAccounts;
    const examination = await examineWith({ ...toEnvironment(bank), ...(await env?.(bank)) });
    expectFailed(examination, verdict, problem, remedy);
    expectNoSecret(examination.everything, [
      bank.password,
      bank.username,
      'secret-',
      ...bank.tokens,
      ...Object.values(PLANTED),
    ]);
  });

  it('reports an internal error by name and place, without its message, with exit code 1', async () => {
    const clock = new SystemClock();
    clock.now = () => {
      throw new RangeError('secret-message');
    };
    const { report, exitCode, everything } = await examineWith(toEnvironment(bank), { clock });
    expect(exitCode).toBe(1);
    expect(report.ok).toBe(false);
    expect(report.steps.find(({ status }) => status === 'failed')).toMatchObject({
      code: 'internal-error',
      owner: 'operator',
      problem: expect.stringMatching(/internal error of the gateway: RangeError at /),
    });
    expect(everything).not.toContain('secret-message');
  });
});
