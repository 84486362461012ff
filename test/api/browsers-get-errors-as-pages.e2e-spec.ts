import { expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { json, startPretendBank } from '../support/pretend-bank.js';

it('a navigation that fails gets the problem as a page with the same status, a program gets JSON', async () => {
  const bank = await startPretendBank();
  bank.onAccounts = (_request, response) => json(response, 500, {});
  const gateway = await startGateway(bank);
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  for (const [path, status, code] of [
    ['/api/v1/accounts', 503, 'bank-error'],
    ['/nothing/<b>', 404, 'not-found'],
    ['/api/v1/accounts?pageSize=x', 400, 'invalid-request'],
  ] as const) {
    const page = await gateway.get(path, browser);
    expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
      status,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(page.text).toContain(`href="/problems"`);
    expect(page.text).toContain(`<code>${code}</code>`);
    expect(page.text).toContain(page.headers['x-request-id']);
    expect(page.text).not.toContain('<b>"');
    expect(page.headers['content-security-policy']).toContain("style-src 'self'");
    expect(page.headers['retry-after'] === undefined).toBe(status !== 503);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      const problem = await gateway.get(path, { accept });
      expect([problem.status, problem.headers['content-type'], problem.json.code]).toEqual([
        status,
        'application/problem+json; charset=utf-8',
        code,
      ]);
    }
  }
});
