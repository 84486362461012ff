import { describe, expect, it } from '@jest/globals';
import { Registry } from '@prometheus-io/client';
import { Activity } from '../../telemetry/activity.js';
import { Exposition } from './exposition.js';
import type { Settings } from '../../config/settings.js';
import type { Gauges } from './gauges.js';
import { ClientNames } from './client-names.js';
import { Metrics } from './metrics.js';

/** Metrics without the gauges, which need a whole gateway. */
const createExposition = (activity = new Activity()) =>
  new Exposition(new Metrics(activity, new ClientNames(), {} as Settings), {
    registry: new Registry(),
    update: async () => undefined,
  } as unknown as Gauges);

describe('metrics', () => {
  it('do not grow with invented client names, methods and paths', async () => {
    const activity = new Activity();
    const metrics = createExposition(activity);
    const problem = { code: 'account-not-found', owner: 'caller' } as const;
    const request = {
      route: '/api/v1/accounts/:accountId',
      status: 404,
      ms: 0.4,
      cache: undefined,
      problem,
      isOwnPage: false,
    };
    const renderAfter = async (count: number) => {
      for (let index = 0; index < count; index += 1) {
        activity.emit('requestEnded', { ...request, method: `M${index}`, clientName: `app-${toLetters(index)}` });
      }
      return (await metrics.render(false)).text.split('\n');
    };
    const before = await renderAfter(1000);
    const lines = await renderAfter(10_000);
    expect(lines).toHaveLength(before.length);
    expect(lines.filter((line) => line.startsWith('accounts_gateway_client_requests_total'))).toHaveLength(51);
  });

  it('are the same in the text format after, and during, a scrape as OpenMetrics', async () => {
    const metrics = createExposition();
    const [open, text, again] = await Promise.all([metrics.render(true), metrics.render(false), metrics.render(true)]);
    const later = await metrics.render(false);
    for (const each of [text, later]) {
      expect(each.text).toContain('# TYPE accounts_gateway_refreshes_total counter\naccounts_gateway_refreshes_total{');
    }
    for (const each of [open, again]) {
      expect(each.text).toContain('# TYPE accounts_gateway_refreshes counter\naccounts_gateway_refreshes_total{');
    }
  });
});

/** A different word for each number. */
const toLetters = (index: number): string =>
  index.toString(36).replace(/\d/g, (digit) => `_${'abcdefghij'[Number(digit)]}`);
