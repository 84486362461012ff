import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/fake-clock.js';
import type { Settings } from '../../config/settings.js';
import { Activity } from '../../telemetry/activity.js';
import type { GatewayStatus } from '../status/gateway-status.js';
import { Callers } from './callers.js';
import { RecentHistory } from './recent-history.js';
import { Metrics } from './metrics.js';

function createMetrics() {
  const activity = new Activity();
  const callers = new Callers(new FakeClock());
  const history = new RecentHistory(activity, {} as GatewayStatus, callers);
  const metrics = new Metrics(activity, callers, history, {} as Settings);
  const request = {
    method: 'GET',
    route: '/api/v1/accounts',
    isCall: true,
    status: 200,
    ms: 0.4,
    clientName: undefined,
  };
  const emit = (change: object) => activity.emit('requestEnded', { ...request, ...change });
  const render = async () => (await metrics.toText()).split('\n');
  return { emit, render };
}

describe('metrics', () => {
  it('do not grow with invented client names', async () => {
    const { emit, render } = createMetrics();
    const problem = { code: 'account-not-found', owner: 'caller' } as const;
    const renderAfter = (count: number) => {
      for (let index = 0; index < count; index += 1) {
        emit({ status: 404, problem, clientName: `app-${toLetters(index)}` });
      }
      return render();
    };
    const before = await renderAfter(1000);
    const lines = await renderAfter(10_000);
    expect(lines).toHaveLength(before.length);
    // 50 names, `none` and `other`
    expect(lines.filter((line) => line.startsWith('accounts_gateway_client_requests_total'))).toHaveLength(52);
  });

  it('count each request in one bucket and all larger ones, and each response by its result', async () => {
    const { emit, render } = createMetrics();
    emit({ ms: 0.5, cache: 'hit' });
    emit({ ms: 90_000, cache: 'hit', status: 304 });
    emit({ ms: 2, cache: 'stale', clientName: 'treasury' });
    const lines = await render();
    const name = 'http_server_request_duration_seconds';
    const ok = 'http_request_method="GET",http_route="/api/v1/accounts",http_response_status_code="200"';
    for (const line of [
      `${name}_bucket{le="0.0005",${ok}} 1`,
      `${name}_bucket{le="0.001",${ok}} 1`,
      `${name}_bucket{le="0.0025",${ok}} 2`,
      `${name}_bucket{le="+Inf",${ok}} 2`,
      `${name}_count{${ok}} 2`,
      `${name}_bucket{le="60",${ok.replace('200', '304')}} 0`,
      `${name}_bucket{le="+Inf",${ok.replace('200', '304')}} 1`,
      'accounts_gateway_responses_total{cache="hit",representation="full"} 1',
      'accounts_gateway_responses_total{cache="hit",representation="not-modified"} 1',
      'accounts_gateway_responses_total{cache="stale",representation="full"} 1',
      'accounts_gateway_responses_total{cache="miss",representation="full"} 0',
      'accounts_gateway_client_requests_total{client_name="treasury"} 1',
      'accounts_gateway_client_requests_total{client_name="none"} 2',
    ]) {
      expect(lines).toContain(line);
    }
  });
});

/** A different word for each number. */
const toLetters = (index: number): string =>
  index.toString(36).replace(/\d/g, (digit) => `_${'abcdefghij'[Number(digit)]}`);
