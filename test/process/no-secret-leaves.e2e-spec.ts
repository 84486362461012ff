import { beforeAll, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import type { Answer } from '../support/call.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, type PretendBank } from '../support/pretend-bank.js';
import { QUOTING_HEADERS, quoted } from '../support/fault-answers.js';
import { PLANTED } from '../support/sample-accounts.js';

const bank = await bankForFile();

const clock = new MovedClock();
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway(bank, {}, clock);
});

/** The bank quotes our secrets and its data. */
describe('no secret leaks', () => {
  it('through an error response that quotes them', async () => {
    const echo =
      (status: number): PretendBank['onToken'] =>
      (request, response) =>
        json(response, status, { ...PLANTED, ...quoted(request), path: request.url }, QUOTING_HEADERS);
    const answers: Answer[] = [];
    const askAfter = async (change: Partial<PretendBank>) => {
      Object.assign(bank, change);
      clock.advance(400_000);
      answers.push(await gateway.get('/api/v1/accounts'), await gateway.get('/health'));
    };
    const statuses = [200, 302, 400, 403, 404, 429, 500];
    for (const status of statuses) await askAfter({ onToken: echo(status) });
    for (const status of statuses) await askAfter({ onToken: issueToken(bank), onAccounts: echo(status) });
    expect(answers.filter(({ status }) => status >= 500)).toHaveLength(28);
    const secrets = secretsOf(bank);
    expect(bank.tokens.length).toBeGreaterThan(3);
    for (const answer of answers) expectNoSecret(answer.text + JSON.stringify(answer.headers), secrets);
    expectNoSecret(gateway.lines.join(''), secrets);
  });

  it('through the keys of an invalid response', async () => {
    clock.advance(400_000);
    bank.onAccounts = (_request, response) =>
      json(response, 200, { [PLANTED.iban]: [{ accountId: null, [PLANTED.text]: 1 }] });
    const { json: problem, text } = await gateway.get('/api/v1/accounts');
    expect(problem.code).toBe('bank-response-invalid');
    expectNoSecret(text, [PLANTED.iban, PLANTED.text]);
    expectNoSecret(gateway.lines.join(''), [PLANTED.iban, PLANTED.text]);
  });

  it("with the bank's code and trace id, which are in log and health, and not in a response for apps", async () => {
    const reference = { bankCode: 'AccountLocked', bankTraceId: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736' };
    const from = gateway.lines.length;
    clock.advance(400_000);
    bank.onToken = (request, response) => {
      const body = { ...quoted(request), errors: [{ errorCode: reference.bankCode }] };
      json(response, 401, body, { 'x-request-id': reference.bankTraceId });
    };
    const { text, headers } = await gateway.get('/api/v1/accounts');
    expect(text + JSON.stringify(headers)).not.toMatch(/AccountLocked|4bf92f35/);
    const { json: health, text: shown } = await gateway.get('/health');
    const lastError = { code: 'credentials-rejected', status: 401, ...reference };
    expect(health.details).toMatchObject({ token: { lastError }, bank: { lastError } });
    expect(gateway.events('token.failed').at(-1)).toMatchObject(reference);
    expectNoSecret(shown + gateway.lines.slice(from).join(''), secretsOf(bank));
    bank.onToken = issueToken(bank);
  });

  it('the negative case: the search finds the values in the accounts, where they belong', async () => {
    clock.advance(400_000);
    const { text } = await gateway.get('/api/v1/accounts');
    for (const value of [PLANTED.iban, PLANTED.beginOfDay, PLANTED.current]) expect(text).toContain(value);
    expect(() => expectNoSecret(text, [PLANTED.iban])).toThrow();
  });
});
