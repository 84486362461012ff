import { describe, expect, it } from '@jest/globals';
import type { HealthCheckService } from '@nestjs/terminus';
import { factsWith, failing, type FactsChange } from '../../../test/support/sample-facts.js';
import type { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { HealthReport } from './health-report.js';

const SETTINGS = {
  BANK_BASE_URL: 'https://bank.example',
  BANK_AUTH_URL: 'https://auth.example',
  EGRESS_NO_PROXY: '',
  SNAPSHOT_FRESH_MS: 10_000,
  SNAPSHOT_MAX_AGE_MS: 300_000,
};

async function detailsOf(change: FactsChange, settings: object = {}) {
  const health = { check: () => Promise.resolve({ info: {}, error: {} }) } as unknown as HealthCheckService;
  const report = await new HealthReport(health, { ...SETTINGS, ...settings } as unknown as Settings).of(
    factsWith(change),
  );
  return report.details as Record<string, Record<string, unknown>>;
}

const rejected = new GatewayError('credentials-rejected', 'no');
const shared = { redis: { state: 'fleet', lastStoredAt: null, lastTakenAt: null, reason: null } } as const;

describe('a rejected token renewal', () => {
  const at = (time: string) => Date.parse(`2026-11-21T08:${time}.000Z`);

  it.each<[string, FactsChange, object | null]>([
    [
      'will end current data with the token, and the copy a maximum age after its last refresh',
      { token: { trouble: failing(rejected) } },
      { currentUntil: '2026-11-21T08:04:55.000Z', copyUntil: '2026-11-21T08:09:45.000Z' },
    ],
    [
      'has ended the token: the snapshot is the last one',
      { token: { trouble: failing(rejected), state: 'waiting', usableUntil: null } },
      { currentUntil: '2026-11-21T08:00:10.000Z', copyUntil: '2026-11-21T08:05:00.000Z' },
    ],
    [
      'has ended current data',
      { at: at('00:11'), token: { trouble: failing(rejected), usableUntil: null }, snapshot: { ageMs: 11_000 } },
      null,
    ],
    ['may heal by itself', { token: { trouble: failing('bank-error') } }, null],
    ['matters less where other instances refresh', { token: { trouble: failing(rejected) }, sharing: shared }, null],
    ['has not happened', {}, null],
  ])('%s', async (_what, change, expected) => {
    expect((await detailsOf(change)).token?.['willFail']).toEqual(expected);
  });
});

it.each<[object, proxy: string | null]>([
  [{}, null],
  [{ EGRESS_PROXY_URL: new URL('http://user:secret@proxy.example:3128') }, 'proxy.example:3128'],
  [{ EGRESS_PROXY_URL: new URL('http://proxy.example'), EGRESS_NO_PROXY: 'bank.example' }, 'proxy.example'],
  [{ EGRESS_PROXY_URL: new URL('http://proxy.example'), EGRESS_NO_PROXY: '.example' }, null],
])('with %j, the proxy is %p', async (settings, proxy) => {
  expect((await detailsOf({}, settings))['egress']?.['proxy']).toBe(proxy);
});
