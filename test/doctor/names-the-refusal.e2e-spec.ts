import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../../src/time/clock.js';
import { examineWith, expectFailed, type Expected } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { issueToken, json, startPretendBank, type Handler, type PretendBank } from '../support/pretend-bank.js';
import { expired } from '../support/authority.js';
import { listSample, PLANTED, sampleAccount } from '../support/sample-accounts.js';

type Env = Record<string, string>;

interface Case extends Expected {
  readonly name: string;
  readonly env?: (bank: PretendBank) => Env | Promise<Env>;
  readonly onToken?: Handler;
  readonly onAccounts?: Handler;
}

const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    json(response, status, body, headers);

const hang: Handler = () => undefined;
const html = answer(200, `<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' });

const settings = { step: 'settings', code: 'config-invalid', owner: 'operator', exit: 2 } as const;
const certificate = { step: 'certificate', owner: 'operator', exit: 3 } as const;
const token = { step: 'token', exit: 7 } as const;
const accounts = { step: 'accounts', exit: 8 } as const;
const shape = { step: 'shape', code: 'bank-response-invalid', owner: 'bank', exit: 9 } as const;

const file = (bank: PretendBank, name: string, content: string | Buffer): string => {
  const path = join(bank.directory, name);
  writeFileSync(path, content);
  return path;
};

const CASES: readonly Case[] = [
  {
    name: 'a setting missing',
    env: () => ({ BANK_BASE_URL: '' }),
    ...settings,
    problem: /^BANK_BASE_URL is missing\.$/,
    remedy: /environment or in \.env.*BANK_BASE_URL=https:\/\/api\.bank\.example/,
  },
  {
    name: 'a CA file that does not exist, and another fault',
    env: () => ({ BANK_CA_FILE: '/no/such/ca.pem', BANK_PAGE_SIZE: '0' }),
    ...settings,
    problem: /(?=.*BANK_CA_FILE points to \/no\/such\/ca\.pem)(?=.*BANK_PAGE_SIZE)/,
    remedy: /for example .*BANK_PAGE_SIZE=1000/,
  },
  {
    name: 'a password whose example names its file',
    env: () => ({ BANK_PASSWORD_FILE: '' }),
    ...settings,
    problem: /^BANK_PASSWORD is missing\.$/,
    remedy: /for example BANK_PASSWORD_FILE=\/run/,
  },
  {
    name: 'a proxy password that needs percent-encoding',
    env: () => ({ EGRESS_PROXY_URL: 'http://user:secret-#x@proxy.example:3128' }),
    ...settings,
    problem: /EGRESS_PROXY_URL is not an address; percent-encode user and password.*# as %23/,
    remedy: /EGRESS_PROXY_URL=http/,
  },
  {
    name: 'a CA file that is none',
    env: (bank) => ({ BANK_CA_FILE: file(bank, 'not-ca.pem', 'hello') }),
    ...settings,
    problem: /BANK_CA_FILE.*contains no PEM certificate/,
    remedy: /BANK_CA_FILE/,
  },
  {
    name: 'no PFX there',
    env: () => ({ BANK_PFX_FILE: '/no/such.pfx' }),
    ...certificate,
    code: 'pfx-unreadable',
    problem: /\/no\/such\.pfx, which does not exist/,
    remedy: /Correct the path/,
  },
  {
    name: 'a wrong passcode',
    env: () => ({ BANK_PFX_PASSCODE_FILE: '', BANK_PFX_PASSCODE: 'secret-wrong-one' }),
    ...certificate,
    code: 'pfx-unreadable',
    problem: /passcode/,
    remedy: /BANK_PFX_PASSCODE/,
  },
  {
    name: 'noise for a PFX',
    env: (bank) => ({ BANK_PFX_FILE: file(bank, 'noise.pfx', Buffer.alloc(500, 7)) }),
    ...certificate,
    code: 'pfx-unreadable',
    problem: /\S/,
    remedy: /Use the PFX/,
  },
  {
    name: 'a certificate that has expired',
    env: async (bank) => {
      const { pfx, passcode } = await bank.issueClient('old', expired());
      return {
        BANK_PFX_FILE: file(bank, 'old.pfx', pfx),
        BANK_PFX_PASSCODE_FILE: file(bank, 'old-passcode', passcode),
      };
    },
    ...certificate,
    code: 'certificate-unusable',
    problem: /expired on 20/,
    remedy: /Ask the bank for a new certificate.*thumbprint [0-9A-F]{40}/,
  },
  {
    name: 'a certificate that is not valid yet',
    env: async (bank) => {
      const soon = { notBefore: new Date(Date.now() + 86_400_000), notAfter: new Date(Date.now() + 9e9) };
      const { pfx, passcode } = await bank.issueClient('new', soon);
      return {
        BANK_PFX_FILE: file(bank, 'new.pfx', pfx),
        BANK_PFX_PASSCODE_FILE: file(bank, 'new-passcode', passcode),
      };
    },
    ...certificate,
    code: 'certificate-unusable',
    problem: /not valid before/,
    remedy: /clock of this machine/,
  },
  {
    name: 'a wrong password',
    onToken: answer(401),
    ...token,
    code: 'credentials-rejected',
    owner: 'operator',
    problem: /answered 401.*allowlist/,
    remedy: /BANK_USERNAME and BANK_PASSWORD/,
  },
  {
    name: 'an address that is not allowed',
    onToken: answer(403),
    ...token,
    code: 'address-not-allowed',
    owner: 'operator',
    problem: /answered 403/,
    remedy: /public address.*to the allowlist/,
  },
  {
    name: 'not the token endpoint',
    onToken: answer(404),
    ...token,
    code: 'bank-refused',
    owner: 'operator',
    problem: /answered 404/,
    remedy: /BANK_AUTH_URL/,
  },
  {
    name: 'a token endpoint that fails',
    onToken: answer(503),
    ...token,
    code: 'bank-error',
    owner: 'bank',
    problem: /answered 503/,
    remedy: /token service is up/,
  },
  {
    name: 'a token endpoint that hangs',
    onToken: hang,
    ...token,
    code: 'bank-timeout',
    owner: 'bank',
    problem: /within 700 ms/,
    remedy: /BANK_REQUEST_TIMEOUT_MS/,
  },
  {
    name: 'a token endpoint that asks to slow down',
    onToken: answer(429),
    ...token,
    code: 'bank-rate-limited',
    owner: 'bank',
    problem: /429/,
    remedy: /limit/,
  },
  {
    name: 'a page in place of a token',
    onToken: html,
    ...token,
    code: 'bank-response-invalid',
    owner: 'bank',
    problem: /not JSON/,
    remedy: /portal or a proxy/,
  },
  {
    name: 'a token endpoint that hangs up on every request',
    onToken: (request) => void request.socket.destroy(),
    step: 'tls',
    exit: 6,
    code: 'certificate-rejected',
    owner: 'operator',
    problem: /closed the connection before its first answer/,
    remedy: /thumbprint [0-9A-F]{40}/,
  },
  {
    name: 'no grant',
    onAccounts: answer(404),
    ...accounts,
    code: 'access-not-granted',
    owner: 'bank',
    problem: /answered 404.*BANK_BASE_URL/,
    remedy: /grant the M2M user access/,
  },
  {
    name: 'an account list that refuses the token',
    onAccounts: answer(401),
    ...accounts,
    code: 'bank-refused',
    owner: 'operator',
    problem: /401/,
    remedy: /Check BANK_BASE_URL and BANK_AUTH_URL/,
  },
  {
    name: 'an account list that hangs',
    onAccounts: hang,
    ...accounts,
    code: 'bank-timeout',
    owner: 'bank',
    problem: /within 700 ms/,
    remedy: /account service/,
  },
  {
    name: 'an account list that never becomes complete',
    env: () => ({ SNAPSHOT_READ_TIMEOUT_MS: '300' }),
    onAccounts: hang,
    ...accounts,
    code: 'bank-timeout',
    owner: 'bank',
    problem: /SNAPSHOT_READ_TIMEOUT_MS/,
    remedy: /account service/,
  },
  {
    name: 'an account list that fails',
    onAccounts: answer(500, PLANTED.text),
    ...accounts,
    code: 'bank-error',
    owner: 'bank',
    problem: /answered 500/,
    remedy: /account service is up/,
  },
  {
    name: 'an answer that is too large',
    env: () => ({ BANK_MAX_RESPONSE_BYTES: '1024' }),
    onAccounts: listSample(20),
    ...accounts,
    code: 'bank-response-invalid',
    owner: 'bank',
    problem: /BANK_MAX_RESPONSE_BYTES/,
    remedy: /BANK_PAGE_SIZE/,
  },
  {
    name: 'a page in place of the list',
    onAccounts: html,
    ...shape,
    problem: /not JSON/,
    remedy: /BANK_BASE_URL/,
  },
  {
    name: 'an account of another shape',
    onAccounts: answer(200, { result: [sampleAccount(1), sampleAccount(2, { balances: 'none' })] }),
    ...shape,
    problem: /result\[1\]\.balances is not an array/,
    remedy: /what has changed/,
  },
];

describe('the doctor names the refusal', () => {
  let bank: PretendBank;
  beforeAll(async () => {
    bank = await startPretendBank();
  });
  afterEach(() => {
    bank.onToken = issueToken(bank);
    bank.onAccounts = listSample();
  });

  it.each(CASES)('$name → $step, $code', async ({ name, env, onToken, onAccounts, ...expected }) => {
    if (onToken) bank.onToken = onToken;
    bank.onAccounts = onAccounts ?? listSample();
    const examination = await examineWith({ ...toEnvironment(bank), ...(await env?.(bank)) });
    expectFailed(examination, expected);
    expect(examination.ms).toBeLessThan(5000);
    const secrets = [bank.username, bank.password, 'secret-', ...bank.tokens, ...Object.values(PLANTED)];
    for (const secret of secrets) expect([name, examination.everything]).not.toContain(secret);
    for (const secret of secrets) expect(examination.everything.includes(secret)).toBe(false);
  });

  it('tells a fault of our own by name and place, without its message, with exit code 1', async () => {
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
