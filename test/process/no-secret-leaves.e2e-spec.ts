import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/snapshot/account.js';
import { FAULTS } from '../../src/sandbox/faults.js';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import { bankForFile } from '../support/bank-for-file.js';
import { control, start } from '../support/sandbox.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { startGateway, type Answer } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, type PretendBank } from '../support/pretend-bank.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';

const bank = await bankForFile();

const PATHS = ['/api/v1/accounts', '/api/v1/accounts/nobody', '/health', '/api/v1/accounts?pageSize=x', '/nothing'];

describe('no secret leaves', () => {
  it('through logs at trace, errors, health or the control port, whatever the sandbox does', async () => {
    const sandbox = await start();
    const clock = new MovedClock();
    const gateway = await startGateway(sandbox, { LOG_LEVEL: 'trace', BANK_REQUEST_TIMEOUT_MS: '500' }, clock);
    const good = await gateway.get('/api/v1/accounts?pageSize=1000');
    expect(good.status).toBe(200);
    const answers: Answer[] = [];
    for (const endpoint of ['accounts', 'authorize']) {
      for (const fault of FAULTS) {
        await control(sandbox, 'PATCH', { failNext: { endpoint, times: 2, with: fault }, revokeTokens: true });
        clock.advance(400_000);
        for (const path of PATHS) answers.push(await gateway.get(path));
        await control(sandbox, 'DELETE');
      }
    }
    expect(answers.filter(({ status }) => status >= 500).length).toBeGreaterThan(20);

    const accounts = good.json.accounts as Account[];
    const read = (file: string) => readFileSync(file, 'utf8');
    const [username, password, passcode] = [sandbox.files.username, sandbox.files.password, sandbox.files.passcode].map(
      read,
    );
    const key = openPfx(readFileSync(sandbox.files.pfx), String(passcode)).keyPem.split('\n')[5]?.trim() ?? '';
    const ibans = accounts.flatMap((account) => account.ibans);
    const amounts = accounts
      .flatMap(({ balances }) => balances.flatMap(({ beginOfDay, current }) => [beginOfDay, current]))
      .filter((amount) => amount !== null && amount.length > 7) as string[];
    expect([ibans.length > 100, amounts.length > 100, key.length > 40]).toEqual([true, true, true]);
    // a JWT of the sandbox begins so
    const secrets = [String(password), String(passcode), key, 'eyJhbGciOi', ...ibans];
    secrets.push(Buffer.from(`${username}:${password}`).toString('base64'));

    const logs = gateway.lines.join('');
    expect(logs.length).toBeGreaterThan(5000);
    const reported = answers.filter(({ status }) => status !== 200).map(({ text }) => text);
    const health = answers.filter((_, index) => PATHS[index % PATHS.length] === '/health').map(({ text }) => text);
    const controlPort = JSON.stringify((await control(sandbox, 'GET')).json);
    for (const text of [logs, reported.join(''), health.join(''), controlPort]) {
      expectNoSecret(text, secrets);
      for (const amount of amounts) expect(text).not.toContain(`"${amount}"`);
    }
  });

  it('through an error that quotes what the bank quotes', async () => {
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { LOG_LEVEL: 'trace' }, clock);
    const echo =
      (status: number): PretendBank['onToken'] =>
      (request, response) =>
        json(response, status, {
          ...PLANTED,
          message: `${PLANTED.text} ${request.headers.authorization}`,
          path: request.url,
        });
    const answers: Answer[] = [];
    for (const status of [200, 400, 401, 403, 404, 418, 429, 500, 503]) {
      bank.onToken = echo(status);
      clock.advance(400_000);
      answers.push(await gateway.get('/api/v1/accounts'), await gateway.get('/health'));
    }
    bank.onToken = issueToken(bank);
    for (const status of [200, 400, 401, 403, 404, 418, 429, 500, 503]) {
      bank.onAccounts = echo(status);
      clock.advance(400_000);
      answers.push(await gateway.get('/api/v1/accounts'), await gateway.get('/health'));
    }
    expect(answers.filter(({ status }) => status >= 500)).toHaveLength(36);
    const secrets = secretsOf(bank);
    expect(bank.tokens.length).toBeGreaterThan(3);
    for (const answer of answers) expectNoSecret(answer.text + JSON.stringify(answer.headers), secrets);
    expectNoSecret(gateway.lines.join(''), secrets);
  });

  it('through the names in an answer that is not understood', async () => {
    const gateway = await startGateway(bank);
    bank.onAccounts = (_request, response) =>
      json(response, 200, { [PLANTED.iban]: [{ accountId: null, [PLANTED.text]: 1 }] });
    const { json: problem, text } = await gateway.get('/api/v1/accounts');
    expect(problem.code).toBe('bank-response-invalid');
    expectNoSecret(text, [PLANTED.iban, PLANTED.text]);
    expectNoSecret(gateway.lines.join(''), [PLANTED.iban, PLANTED.text]);
  });

  it('the counterpart: the search finds them where they belong, in the accounts', async () => {
    const gateway = await startGateway(bank);
    bank.onAccounts = listSample();
    const { text } = await gateway.get('/api/v1/accounts');
    for (const value of [PLANTED.iban, PLANTED.beginOfDay, PLANTED.current]) expect(text).toContain(value);
    expect(() => expectNoSecret(text, [PLANTED.iban])).toThrow();
  });
});
