import { describe, expect, it } from '@jest/globals';
import { crossCheck } from '../../src/config/cross-checks.js';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';
import { unknownNames } from '../../src/config/warnings.js';
import { ALL_CODES } from '../../src/errors/problem-table.js';
import { readClient } from '../laboratory/compare/read-client.js';
import { coded, read, readDocument, ROOT, rowsUnder } from '../support/documents.js';

type Kind = 'settings' | 'metrics' | 'events' | 'codes' | 'clients';

/** What 0.1 had of a kind. */
function namesOf01(kind: Kind): string[] {
  const [, lines = ''] =
    new RegExp(`^${kind}:\\n([\\s\\S]*?)(?:\\n\\n|$(?![\\s\\S]))`, 'm').exec(read('test/docs/names-of-0.1.txt')) ?? [];
  return lines.trim().split(/\s+/);
}

const inTable = (path: string, ...header: string[]) =>
  rowsUnder(readDocument(path), ...header).flatMap(([name]) => coded(name));

/** What there is today; other tests compare these documents with the code. */
const today: Readonly<Record<Kind, () => readonly string[]>> = {
  settings: () => KNOWN_NAMES,
  metrics: () => inTable('docs/health-and-metrics.md', 'metric', 'type'),
  events: () => inTable('docs/logs.md', 'event', 'level'),
  codes: () => ALL_CODES,
  clients: () => readClient(ROOT).map(([name]) => name.replace('client ', '')),
};

/** What 0.1 had and is gone; of a type that is gone, its name alone. */
function removed(kind: Kind): string[] {
  const names = today[kind]();
  const gone = namesOf01(kind).filter((name) => !names.includes(name));
  return gone.filter((name) => !gone.includes(name.split('.')[0] ?? '') || !name.includes('.') || kind !== 'clients');
}

const upgrade = coded(readDocument('docs/upgrade.md')).join(' ');
const isNamed = (name: string) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(upgrade);

describe('docs/upgrade.md names what 0.1 had and is gone:', () => {
  it.each<[Kind, number]>([
    ['settings', 2],
    ['metrics', 5],
    ['events', 2],
    ['codes', 1],
    ['clients', 11],
  ])('%s', (kind, atLeast) => {
    const gone = removed(kind);
    expect(gone.length).toBeGreaterThanOrEqual(atLeast);
    // of a member, the last part: `onState` of WatchHandlers.onState
    expect(gone.filter((name) => !isNamed(kind === 'clients' ? (name.split('.').at(-1) ?? '') : name))).toEqual([]);
  });

  it('the negative case: a name that it does not have', () => {
    expect([isNamed('accounts_gateway_none'), isNamed('accounts_gateway'), isNamed('bank-unavailable')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

it.each(removed('settings'))('%s of 0.1 no longer exists, and the start says what to do', (name) => {
  const errors = crossCheck({ [name]: '1' }, {}, true).map(({ variable, problem }) => `${variable} ${problem}`);
  expect([...errors, ...unknownNames({ [name]: '1' })]).toEqual([expect.stringContaining(`${name} no longer exists`)]);
});
