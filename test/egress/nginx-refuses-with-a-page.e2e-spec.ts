import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { examineWith, expectFailed } from '../support/examination.js';
import { startGateway, toEnvironment } from '../support/gateway.js';
import { createAuthority } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { startNginx } from '../support/nginx.js';
import { hasNginx } from '../support/tools.js';
import { type Handler } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';

const bank = await bankForFile();

const REJECTED = { code: 'certificate-rejected', owner: 'operator' };

/** The settings of a gateway with the bank's client certificate, whose list, or whose all, stands behind nginx. */
async function behindNginx(what: 'everything' | 'the list', knowsUs: boolean): Promise<Record<string, string>> {
  const authority = createAuthority('An nginx root');
  const ourRoot = readFileSync(bank.files.ca, 'utf8');
  const roots = join(temporaryDirectory(), 'roots.pem');
  writeFileSync(roots, ourRoot + authority.pem);
  const port = await startNginx(authority.server(['127.0.0.1']), knowsUs ? ourRoot : authority.pem);
  const url = `https://127.0.0.1:${port}`;
  return { BANK_CA_FILE: roots, BANK_BASE_URL: url, ...(what === 'everything' && { BANK_AUTH_URL: url }) };
}

(hasNginx() ? describe : describe.skip)('the real nginx', () => {
  test.each(['everything', 'the list'] as const)('%s behind it: a certificate it does not know', async (what) => {
    const gateway = await startGateway(bank, await behindNginx(what, false));
    const { json } = await gateway.get('/api/v1/accounts');
    expect(json).toMatchObject({ ...REJECTED, status: 502, detail: expect.stringMatching(/answered 400 with a page/) });
    // a refusal of the certificate is waited out as one of the password
    expect(Number((await gateway.get('/health')).json.details.bank.circuit === 'open')).toBe(1);
  });

  test.each(['everything', 'the list'] as const)('%s behind it, its twin: a certificate it knows', async (what) => {
    const gateway = await startGateway(bank, await behindNginx(what, true));
    expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({ accounts: [] });
  });

  test('the doctor tells of it in the step for TLS', async () => {
    expectFailed(await examineWith({ ...toEnvironment(bank), ...(await behindNginx('everything', false)) }), {
      ...REJECTED,
      step: 'tls',
      exit: 6,
      problem: /answered 400 with a page/,
      remedy: /thumbprint [0-9A-F]{40}/,
    });
  });
});

const page =
  (status: number, text: string, type = 'text/html'): Handler =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(text);

const NO_CERTIFICATE = '<html><head><title>400 No required SSL certificate was sent</title></head></html>';

describe.each(['onToken', 'onAccounts'] as const)('a page (%s)', (endpoint) => {
  test.each<[string, Handler, object]>([
    ['nginx without a certificate', page(400, NO_CERTIFICATE), REJECTED],
    [
      'the same with 403, which nginx never says',
      page(403, NO_CERTIFICATE),
      { detail: expect.stringMatching(/certificate.*firewall/) },
    ],
    [
      '400 with another page',
      page(400, `<html>${PLANTED.text}</html>`),
      { detail: expect.stringMatching(/certificate.*firewall/) },
    ],
    [
      '403 with a page',
      page(403, '<!DOCTYPE html><h1>Blocked</h1>', ''),
      { detail: expect.stringMatching(/certificate.*firewall/) },
    ],
  ])('%s', async (_name, handler, expected) => {
    bank[endpoint] = handler;
    const { json, text } = await (await startGateway(bank)).get('/api/v1/accounts');
    expect(json).toMatchObject({ status: 502, owner: 'operator', ...expected });
    expect(text).not.toContain(PLANTED.text);
  });

  test.each([400, 403])('%i with JSON, its twin, is no page', async (status) => {
    bank[endpoint] = page(status, '{"message":"The SSL certificate error"}', 'application/json');
    const { json } = await (await startGateway(bank)).get('/api/v1/accounts');
    expect(json.code).not.toBe('certificate-rejected');
    expect(json.detail).not.toMatch(/firewall/);
  });
});
