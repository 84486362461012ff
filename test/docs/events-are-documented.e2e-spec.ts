import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { NOTABLE_EVENTS } from '../../src/telemetry/recent-events.js';
import { coded, read, readDocument, ROOT, rowsUnder, withoutRow } from '../support/documents.js';

/** Too common for the last hour, or of a time when nobody can ask for it. */
const NOT_NOTABLE = [
  'bank.call',
  'certificate.unchanged',
  'config.invalid',
  'connection.closed',
  'gateway.not-started',
  'gateway.stopped',
  'request',
  'snapshot.refreshed',
  'token.acquired',
];

const document = readDocument('docs/logs.md');

const listed = (text: string) => rowsUnder(text, 'event', 'level', 'meaning').flatMap(([event]) => coded(event));

/** Every event that a line of the source logs. */
function loggedEvents(): string[] {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/\.(spec|test-support)\.ts$/.test(path),
  );
  const events = sources.flatMap((path) =>
    [...read(join('src', path)).matchAll(/\bevent: '([a-z.-]+)'/g)].map(([, event]) => event ?? ''),
  );
  return [...new Set(events)].toSorted();
}

describe('the events in docs/logs.md', () => {
  it('are those that the program logs, each once', () => {
    expect(listed(document).toSorted()).toEqual(loggedEvents());
  });

  it('the negative case: an event without its row is found, though the text names it', () => {
    const without = withoutRow(document, '`request`');
    expect(without).toContain('`request`');
    expect(listed(without).toSorted()).not.toEqual(loggedEvents());
  });
});

describe('the last hour', () => {
  it('has a sentence for every event, but for those that nobody would look for there', () => {
    const decided = new Set([...NOTABLE_EVENTS.keys(), ...NOT_NOTABLE]);
    expect(loggedEvents().filter((event) => !decided.has(event))).toEqual([]);
    expect(NOT_NOTABLE.filter((event) => NOTABLE_EVENTS.has(event))).toEqual([]);
  });
});
