import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { start } from '../support/sandbox.js';
import { startGateway } from '../support/gateway.js';

const asked = (sandbox: Sandbox, endpoint: string) =>
  sandbox.requests.filter((request) => request.endpoint === endpoint).length;

describe('one list for everybody', () => {
  it('200 callers at once on a cold gateway cost one token request and one reading', async () => {
    const sandbox = await start({ latencyMs: 20 });
    const gateway = await startGateway(sandbox);
    const answers = await Promise.all(Array.from({ length: 200 }, () => gateway.get('/api/v1/accounts')));
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(asked(sandbox, 'authorize')).toBe(1);
    expect(asked(sandbox, 'accounts')).toBe(1);
  });

  it('also where tokens come from a host of their own, and with lists, pages and single accounts mixed', async () => {
    const sandbox = await start({ latencyMs: 20, authPort: 0 });
    expect(sandbox.authUrl).not.toBe(sandbox.url);
    const gateway = await startGateway(sandbox, { BANK_PAGE_SIZE: '50' });
    const paths = ['/api/v1/accounts', '/api/v1/accounts?pageNumber=3', '/api/v1/accounts/nobody', '/health/ready'];
    // a probe waits 500 ms at most
    const expected = [[200], [200], [404], [200, 503]];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => gateway.get(paths[index % paths.length] as string)),
    );
    const unexpected = answers.filter(({ status }, index) => !expected[index % 4]?.includes(status));
    expect(unexpected.map(({ status }) => status)).toEqual([]);
    expect((await gateway.get('/health/ready')).status).toBe(200);
    expect(asked(sandbox, 'authorize')).toBe(1);
    expect(asked(sandbox, 'accounts')).toBe(3);
    // the certificate is shown at both hosts (docs/bank.md#account-list)
    const thumbprints = new Set(sandbox.requests.map(({ thumbprint }) => thumbprint));
    expect(thumbprints.size).toBe(1);
    expect(thumbprints).not.toContain(null);
  });

  it('its twin: callers who refuse a held copy one after another cost a reading each', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0' });
    for (let call = 0; call < 3; call++) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(asked(sandbox, 'authorize')).toBe(1);
    expect(asked(sandbox, 'accounts')).toBe(3);
  });
});
