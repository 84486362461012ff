import { describe, expect, it } from '@jest/globals';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';

const DAY_MS = 86_400_000;
const days = (from: number, to: number) => ({
  notBefore: new Date(Date.now() + from * DAY_MS),
  notAfter: new Date(Date.now() + to * DAY_MS),
});

describe('a certificate out of date is said, not sent', () => {
  it.each([
    ['expired', days(-30, -1), /expired on \d{4}-/],
    ['not yet valid', days(1, 30), /not valid before \d{4}-/],
  ])('%s: it starts, is not ready, and says why', async (_name, clientValidity, reason) => {
    const bank = await startPretendBank({ clientValidity });
    const gateway = await startGateway(bank);
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 503, code: 'certificate-unusable', owner: 'operator' });
    expect(answer.json.detail).toMatch(reason);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await gateway.get('/health/ready')).status).toBe(503);
    expect((await gateway.get('/health/live')).status).toBe(200);
    const health = await gateway.get('/health');
    expect(health.status).toBe(503);
    expect(health.json).toMatchObject({
      status: 'error',
      error: { certificate: { status: 'down' } },
      details: { certificate: { status: 'down', thumbprint: expect.stringMatching(/^[0-9A-F]{40}$/) } },
    });
    expect(health.json.details.certificate.detail).toMatch(reason);
    // the bank is not bothered with it
    expect(bank.requests).toEqual([]);
    expect(bank.sockets.size).toBe(0);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('under 30 days left: it works, and health is degraded', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 20.5) });
    const gateway = await startGateway(bank);
    expect((await askInTime(gateway)).status).toBe(200);
    const { status, json } = await gateway.get('/health');
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'degraded', details: { certificate: { status: 'degraded', daysLeft: 20 } } });
    expect(gateway.events('certificate.expiring').length).toBeGreaterThanOrEqual(1);
  });

  it('its twin: more than 60 days left is ok, and nothing is said yet', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 61.5) });
    const gateway = await startGateway(bank);
    expect((await askInTime(gateway)).status).toBe(200);
    expect((await gateway.get('/health')).json).toMatchObject({
      status: 'ok',
      details: { certificate: { daysLeft: 61 } },
    });
    expect(gateway.events('certificate.expiring')).toEqual([]);
  });

  it('expiring while it runs: what is held is served, the certificate is not sent any more', async () => {
    const bank = await startPretendBank({ clientValidity: days(-300, 1) });
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_MAX_AGE_MS: '86400000' }, clock);
    expect((await askInTime(gateway)).status).toBe(200);
    const asked = bank.requests.length;
    clock.advance(DAY_MS - 100);
    clock.advance(200);
    const held = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect(held.json).toMatchObject({ status: 503, code: 'certificate-unusable' });
    expect(bank.requests).toHaveLength(asked);
    expect((await gateway.get('/health')).json.details.certificate).toMatchObject({ status: 'down', daysLeft: -1 });
  });
});
