import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Month } from './play-month.js';

const ROOT = new URL('../../', import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  scripts: { simulate: string };
};
const COMMAND = scripts.simulate.split('exec node ').at(-1)?.split(' ') ?? [];
/** Rows without the spaces and dashes that prettier adds. */
const toRows = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-').split('\n').filter(Boolean);

describe('a simulated month, seed 1', () => {
  let month: Month & { readonly summary: string; readonly alertTable: string };
  beforeAll(async () => {
    // a process of its own: it replaces the timers
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [...COMMAND, '--json'], { cwd: ROOT, maxBuffer: 1e7 });
    month = JSON.parse(stdout) as typeof month;
  }, 300_000);

  const daysWith = (kind: string) => month.days.filter(({ odd }) => (odd as string[]).includes(kind));
  /** Alerts that fired outside of announced windows on the days with this. */
  const firedOn = (kind: string) => {
    const days = new Set(daysWith(kind).map(({ day }) => day));
    return month.alerts.filter(({ announced, day }) => !announced && days.has(day));
  };

  it('never sends an expired token, nor two token requests at once', () => {
    expect(month.misuse).toEqual({ expiredTokens: 0, tokenRequestsAtOnce: 1 });
  });

  it('asks for few tokens even on nights with long windows, and for the list only while there is work', () => {
    expect(Math.max(...month.days.map(({ token }) => token))).toBeLessThan(24 * 120);
    expect(month.days.filter(({ day, list }) => (day - 1) % 7 > 4 && list > 2)).toEqual([]);
  });

  it.each(['revoked', 'clock', 'sleep', 'certificate', 'accounts', 'slow'])('%s fails no call by day', (kind) => {
    const others = new Set(['maintenance', 'down', 'rate-limited']);
    const alone = daysWith(kind).filter(({ odd }) => !odd.some((each) => others.has(each)));
    expect(alone.length).toBeGreaterThan(0);
    expect(alone.map(({ failed }) => failed)).toEqual(alone.map(() => 0));
  });

  it.each(['password', 'not-granted'])('%s fails calls until somebody acts', (kind) => {
    expect(daysWith(kind).map(({ failed }) => failed > 10)).toEqual([true]);
  });

  it.each([
    ['password', 'RejectedByBank', 'operator'],
    ['certificate', 'CertificateRefused', 'operator'],
    ['not-granted', 'NotReady', 'bank'],
    ['down', 'NotReady', 'network'],
    ['slow', 'BankSlow', 'bank'],
  ])('%s fires %s for the %s', (kind, name, owner) => {
    expect(firedOn(kind)).toContainEqual(expect.objectContaining({ name: `AccountsGateway${name}`, owner }));
  });

  it('is what docs/month.md shows: npm run simulate prints its tables', () => {
    const documented = toRows(readFileSync(new URL('docs/month.md', ROOT), 'utf8'));
    expect(documented).toEqual(expect.arrayContaining(toRows(`${month.summary}${month.alertTable}`)));
  });
});
