import { expect, test } from '@jest/globals';
import { Activity, type BankCallEnded } from '../../src/telemetry/activity.js';
import { accountsAt, createEgress, failureOf, identityFor } from '../support/egress.js';
import { json, startPretendBank } from '../support/pretend-bank.js';

test('each call is reported once, with its server, status and code; one that was given up is not', async () => {
  const bank = await startPretendBank();
  const activity = new Activity();
  const calls: BankCallEnded[] = [];
  activity.on('bankCallEnded', (call) => calls.push(call));
  const egress = createEgress(identityFor(bank), { BANK_MAX_RESPONSE_BYTES: 1000 }, [], activity);
  const request = accountsAt(bank.url);

  bank.onAccounts = (_request, response) => json(response, 200, []);
  await egress.get(request);
  bank.onAccounts = (_request, response) => json(response, 404, {});
  await egress.get(request);
  await egress.get({ ...request, expected: [404] });
  const bodies: [string, Record<string, string>][] = [
    ['<html>down</html>', {}],
    ['x'.repeat(1001), {}],
    ['no gzip', { 'Content-Encoding': 'gzip' }],
  ];
  for (const [body, headers] of bodies) {
    bank.onAccounts = (_request, response) => void response.writeHead(200, headers).end(body);
    await egress.get(request).catch(() => undefined);
  }
  const gone = accountsAt('https://localhost:1');
  await failureOf(egress.get(gone));
  bank.onAccounts = () => undefined;
  const signal = AbortSignal.timeout(50);
  await expect(egress.get({ ...request, signal })).rejects.toThrow('timeout');

  const server = { target: 'accounts', method: 'GET', serverAddress: new URL(bank.url).hostname };
  const here = { ...server, serverPort: Number(new URL(bank.url).port), ms: expect.any(Number) };
  expect(calls).toEqual([
    { ...here, status: 200, code: null },
    { ...here, status: 404, code: 'access-not-granted' },
    { ...here, status: 404, code: null },
    ...bodies.map(() => ({ ...here, status: 200, code: 'bank-response-invalid' })),
    { ...here, serverAddress: 'localhost', serverPort: 1, status: null, code: 'bank-unreachable' },
  ]);
});
