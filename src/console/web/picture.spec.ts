import { describe, expect, it } from '@jest/globals';
import type { Health, ProblemEntry } from './gateway.js';
import { levelOf, overall, toTroubles } from './picture.js';
import type { Live } from './use-live.js';

const TITLES = { 'bank-unreachable': 'The bank cannot be reached', 'proxy-refused': 'The proxy refused' };
const problems = Object.entries(TITLES).map(([code, title]) => ({ code, title, remedy: 'wait' }) as ProblemEntry);

/** A gateway that is well but for these parts, in the order in which /health gives them. */
function liveWith(status: Health['status'], parts: Record<string, object>, change: Partial<Live> = {}): Live {
  const details = {
    ...parts,
    certificate: { status: 'up', daysLeft: 100, refused: null, ...parts['certificate'] },
    egress: { status: 'up', ...parts['egress'] },
    token: { status: 'up', lastError: null, ...parts['token'] },
    bank: { status: 'up', lastError: null, ...parts['bank'] },
    snapshot: { status: 'up', ...parts['snapshot'] },
  };
  const health = { status, details } as unknown as Health;
  return { health, healthAt: 0, trouble: null, connected: true, asOf: null, turn: 0, stateTurn: 0, ...change };
}

const away = { code: 'bank-unreachable', owner: 'network', detail: 'refused', remedy: 'wait' };

describe('what is wrong', () => {
  it('is nothing while all is well', () => {
    const live = liveWith('ok', {});
    expect(toTroubles(live, problems)).toEqual([]);
    expect(overall(live, [])).toBe('ok');
  });

  it('is told once, though it shows in several parts; what only follows from it is no break of its own', () => {
    const at = '2026-11-21T08:00:00.000Z';
    const live = liveWith('degraded', {
      bank: { status: 'degraded', ...away, lastError: { code: away.code, at } },
      snapshot: { status: 'degraded', ...away },
    });
    const troubles = toTroubles(live, problems);
    expect(troubles).toEqual([
      { hop: 'bank', level: 'warn', title: 'The bank cannot be reached', lastAt: at, ...away },
    ]);
    expect(levelOf('bank', live, troubles)).toBe('warn');
    expect(levelOf('accounts', live, troubles)).toBe('warn');
    expect(levelOf('token', live, troubles)).toBe('ok');
    expect(overall(live, troubles)).toBe('warn');
  });

  it.each([
    ['proxy-refused', 'route'],
    ['proxy-unavailable', 'route'],
    ['certificate-rejected', 'certificate'],
    ['credentials-rejected', 'token'],
    ['address-not-allowed', 'token'],
    ['access-not-granted', 'bank'],
    ['bank-untrusted', 'bank'],
    ['something-new', 'bank'],
  ])('%s is a break at: %s', (code, hop) => {
    const live = liveWith('error', {
      bank: { status: 'down', ...away, code },
      snapshot: { status: 'down', ...away, code },
    });
    const troubles = toTroubles(live, problems);
    expect(troubles.map((trouble) => trouble.hop)).toEqual([hop]);
    expect(levelOf('accounts', live, troubles)).toBe('idle');
    expect(overall(live, troubles)).toBe('bad');
  });

  it('is not the bank, nor a fault of the gateway, when the instances cannot share', () => {
    const sharing = { status: 'degraded', ...away, code: 'internal-error', owner: 'operator' };
    const titles = [...problems, { code: 'internal-error', title: 'A fault of this service' } as ProblemEntry];
    const live = liveWith('degraded', { sharing });
    const troubles = toTroubles(live, titles);
    expect(troubles).toMatchObject([
      { hop: 'accounts', level: 'warn', title: 'The instances cannot share', code: null },
    ]);
    expect([levelOf('bank', live, troubles), levelOf('accounts', live, troubles)]).toEqual(['ok', 'warn']);
  });

  it('tells a certificate that ends soon from one that cannot be used, and from a new one that is not taken', () => {
    const part = { code: 'certificate-unusable', owner: 'operator', detail: '', remedy: 'renew' };
    const titleOf = (change: object) =>
      toTroubles(liveWith('degraded', { certificate: { status: 'degraded', ...part, ...change } }), problems)[0]?.title;
    expect(titleOf({ daysLeft: 3 })).toBe('The client certificate ends in 3 days');
    expect(titleOf({ daysLeft: 1 })).toBe('The client certificate ends in 1 day');
    expect(titleOf({ refused: { code: 'certificate-rejected' } })).toBe('A newer client certificate was not taken');
    expect(titleOf({ status: 'down' })).toContain('certificate-unusable');
  });

  it('is the connection of the page, before anything that it was told earlier', () => {
    const trouble = { code: 'network-error', status: 0, owner: 'network', message: 'x' } as unknown as Live['trouble'];
    const live = liveWith('ok', {}, { trouble });
    const troubles = toTroubles(live, problems);
    expect(troubles).toMatchObject([{ hop: 'page', level: 'bad', title: 'Not connected to the gateway' }]);
    expect(levelOf('bank', live, troubles)).toBe('idle');
    expect(overall(live, troubles)).toBe('bad');
  });

  it('is not known before the first answer', () => {
    const live = liveWith('ok', {}, { health: null, connected: null });
    expect([overall(live, []), levelOf('bank', live, []), levelOf('page', live, [])]).toEqual(['idle', 'idle', 'idle']);
  });
});
