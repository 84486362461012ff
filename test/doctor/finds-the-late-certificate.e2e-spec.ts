import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { examineWith, expectFailed } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { askingLate, ASKS_LATE } from '../support/late-certificate.js';
import { closePretendBanks, issueToken, json, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';

const token = { step: 'token', code: 'address-not-allowed', owner: 'operator', exit: 7 } as const;
const accounts = { step: 'accounts', code: 'bank-refused', owner: 'operator', exit: 8 } as const;
const OVER_1_2 = { problem: /same request succeeds over TLS 1\.2/, remedy: /Set BANK_TLS_MAX_VERSION=1\.2/ };

describe('the doctor, at a bank that asks for the certificate after the handshake', () => {
  let bank: PretendBank;
  beforeAll(async () => {
    bank = await startPretendBank({ server: ASKS_LATE });
  });
  afterEach(() => {
    bank.onToken = issueToken(bank);
    bank.onAccounts = listSample();
    bank.requests.length = 0;
  });
  afterAll(closePretendBanks);

  const asked = (path: string) => bank.requests.filter((request) => request.path.includes(path)).length;

  it('names TLS 1.2 as the remedy: token endpoint', async () => {
    bank.onToken = askingLate(issueToken(bank));
    const examination = await examineWith(toEnvironment(bank));
    expectFailed(examination, { ...token, ...OVER_1_2 });
    expect(examination.step('token').facts).toMatchObject({ overTls12: 'accepted' });
    expect(asked('authorize')).toBe(2);
  });

  it('names TLS 1.2 as the remedy: account list', async () => {
    bank.onAccounts = askingLate(listSample());
    expectFailed(await examineWith(toEnvironment(bank)), { ...accounts, ...OVER_1_2 });
  });

  it('its twin: all is well with that remedy', async () => {
    bank.onToken = askingLate(issueToken(bank));
    bank.onAccounts = askingLate(listSample());
    const { exitCode } = await examineWith({ ...toEnvironment(bank), BANK_TLS_MAX_VERSION: '1.2' });
    expect(exitCode).toBe(0);
  });

  it.each([401, 403])(
    'does not name it where the bank answers %i over TLS 1.2 too, and asks once more only',
    async (status) => {
      bank.onToken = (_request, response) => json(response, status, {});
      const examination = await examineWith(toEnvironment(bank));
      const code = status === 401 ? 'credentials-rejected' : token.code;
      expectFailed(examination, { ...token, code, problem: /allowlist/, remedy: /^(?!.*TLS).*/ });
      expect(examination.step('token').facts).toMatchObject({ overTls12: 'refused' });
      expect(asked('authorize')).toBe(2);
    },
  );

  it('does not try where TLS 1.2 is spoken already, nor after other answers', async () => {
    bank.onToken = (_request, response) => json(response, 403, {});
    await examineWith({ ...toEnvironment(bank), BANK_TLS_MAX_VERSION: '1.2' });
    expect(asked('authorize')).toBe(1);
    bank.onToken = (_request, response) => json(response, 404, {});
    const { step } = await examineWith(toEnvironment(bank));
    expect(step('token').facts).toEqual({});
    expect(asked('authorize')).toBe(2);
  });
});

describe('the text for a ticket', () => {
  afterAll(closePretendBanks);

  it('has the time, and the id by which the bank knows the request', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = (_request, response) => json(response, 404, {});
    const { text, step } = await examineWith(toEnvironment(bank));
    const { requestId } = step('accounts').facts;
    expect(requestId).toBe(bank.requests.at(-1)?.headers['x-request-id']);
    expect(text).toMatch(/^Time +20\d\d-.*Z$/m);
    expect(text).toMatch(new RegExp(`^Request id +${String(requestId)} \\(X-Request-Id\\)$`, 'm'));
  });

  it('its twin: no id where no list was asked for', async () => {
    const bank = await startPretendBank();
    bank.onToken = (_request, response) => json(response, 404, {});
    const { text } = await examineWith(toEnvironment(bank));
    expect(text).not.toContain('Request id');
  });
});
