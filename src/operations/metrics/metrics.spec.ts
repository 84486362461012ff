import { describe, expect, it } from '@jest/globals';
import { Registry } from '@prometheus-io/client';
import { Activity } from '../../telemetry/activity.js';
import { Exposition } from './exposition.js';
import { ClientNames, Metrics } from './metrics.js';

/** Metrics without the gauges, which need a whole gateway. */
const createExposition = (activity = new Activity()) =>
  new Exposition(new Metrics(activity), { registry: new Registry(), update: async () => undefined });

describe('metrics', () => {
  it('do not grow with invented client names, methods and paths', async () => {
    const activity = new Activity();
    const metrics = createExposition(activity);
    const problem = { code: 'not-found', owner: 'caller' } as const;
    const request = { route: null, status: 404, ms: 0.4, cache: undefined, problem };
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

  it('are rendered once for concurrent scrapes, and again for later ones', async () => {
    const metrics = createExposition();
    const first = metrics.render(false);
    expect(metrics.render(false)).toBe(first);
    await first;
    expect(metrics.render(false)).not.toBe(first);
  });
});

describe('client names', () => {
  it.each([
    ['cash-report', 'cash-report'],
    ['x'.repeat(40), 'x'.repeat(40)],
    ['x'.repeat(41), 'other'],
    ['app12345', 'other'],
    ['DE89370400440532013000', 'other'],
    ['a"b', 'other'],
    ['', 'none'],
    [undefined, 'none'],
  ])('%s is %s', (header, label) => {
    expect(new ClientNames().toLabel(header)).toBe(label);
  });

  it('keep the first 50', () => {
    const names = new ClientNames();
    const labels = Array.from({ length: 60 }, (_, index) => names.toLabel(`app-${toLetters(index)}`));
    expect(labels.filter((label) => label === 'other')).toHaveLength(10);
    expect(names.toLabel(`app-${toLetters(0)}`)).toBe(`app-${toLetters(0)}`);
  });
});

/** A different word for each number. */
const toLetters = (index: number): string =>
  index.toString(36).replace(/\d/g, (digit) => `_${'abcdefghij'[Number(digit)]}`);
