import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';
import { start } from '../support/sandbox.js';
import { parseMetrics, scrape } from '../support/scrape.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
});

const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('/metrics', () => {
  it('is OpenMetrics for who prefers that, and text for all others, in any order', async () => {
    const gateway = await startGateway(sandbox);
    await gateway.get('/api/v1/accounts');
    for (const [accept, type] of [
      [undefined, 'text/plain; version=0.0.4; charset=utf-8'],
      [PROMETHEUS, 'application/openmetrics-text; version=1.0.0; charset=utf-8'],
      ['*/*', 'text/plain; version=0.0.4; charset=utf-8'],
      [PROMETHEUS_3, 'application/openmetrics-text; version=1.0.0; charset=utf-8'],
      ['text/html', 'text/plain; version=0.0.4; charset=utf-8'],
      ['text/plain, application/openmetrics-text;q=0.4', 'text/plain; version=0.0.4; charset=utf-8'],
      ['application/openmetrics-text;q=x', 'text/plain; version=0.0.4; charset=utf-8'],
    ] as const) {
      const { status, headers, text } = await gateway.get('/metrics', accept === undefined ? {} : { accept });
      expect({ accept, status, type: headers['content-type'] }).toEqual({ accept, status: 200, type });
      const open = type.startsWith('application/');
      expect(text.endsWith('# EOF\n')).toBe(open);
      // a counter is named without its suffix where OpenMetrics is spoken, and only there
      const typed = open ? 'accounts_gateway_refreshes counter' : 'accounts_gateway_refreshes_total counter';
      expect(text).toContain(`# TYPE ${typed}\n`);
      expect(parseMetrics(text).value('accounts_gateway_refreshes_total', { outcome: 'ok' })).toBe(1);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['vary']).toContain('Accept');
    }
  });

  it('has the metrics of the process and of Node beside ours, once, and each family once', async () => {
    const [first, second] = [await startGateway(sandbox), await startGateway(sandbox)];
    await first.get('/api/v1/accounts');
    const seen = await scrape(first);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(seen.families).toContain(name);
    expect(seen.text.match(/^# TYPE /gm)).toHaveLength(seen.families.size);
    // apps of one process do not count for each other
    expect((await scrape(second)).value('accounts_gateway_refreshes_total')).toBe(0);
    expect(seen.value('accounts_gateway_refreshes_total')).toBe(1);
  });

  it('answers HEAD as GET but for the body', async () => {
    const gateway = await startGateway(sandbox);
    const { status, text, headers } = await rawCall(gateway.port, rawRequest('HEAD /metrics HTTP/1.1'));
    expect([status, text, headers['content-type']]).toEqual([200, '', 'text/plain; version=0.0.4; charset=utf-8']);
  });

  it.each(['/metrics', '/health/recent'])('%s is guarded like the API', async (path) => {
    const strict = await startGateway(sandbox, { ALLOWED_CLIENTS: '192.0.2.1' });
    const refused = await strict.get(path);
    expect([refused.status, refused.json.code]).toEqual([403, 'client-not-allowed']);
    const gateway = await startGateway(sandbox);
    const misnamed = await gateway.get(path, { host: 'evil.example' });
    expect([misnamed.status, misnamed.json.code]).toEqual([421, 'host-not-allowed']);
    expect((await gateway.get(path)).status).toBe(200);
    expect((await gateway.get(`${path}?x=1`)).status).toBe(200);
  });

  it('needs no setting where a scraper goes by the address that it was given', async () => {
    const gateway = await startGateway(sandbox, { ALLOWED_HOSTS: 'accounts.example' });
    expect((await gateway.get('/metrics', { host: `127.0.0.1:${gateway.port}` })).status).toBe(200);
    expect((await gateway.get('/metrics', { host: `127.0.0.2:${gateway.port}` })).status).toBe(421);
  });
});
