import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';
import {
  AWAITED,
  brokenLinks,
  coded,
  documentPaths,
  missingPaths,
  readDocument,
  ROOT,
  rowsUnder,
  settingsIn,
  withoutRow,
} from '../support/documents.js';

const awaited = (name: string) => [...AWAITED.paths, ...AWAITED.settings].includes(name);
const unknownSettings = (document: string) => settingsIn(document).filter((name) => !KNOWN_NAMES.includes(name));

describe.each(documentPaths())('%s', (path) => {
  const document = readDocument(path);

  it('links to files and headings that exist', () => {
    expect(brokenLinks(path, document)).toEqual([]);
  });

  it('names files and folders that exist', () => {
    expect(missingPaths(path, document).filter((name) => !awaited(name))).toEqual([]);
  });

  it('names settings that the program knows', () => {
    expect(unknownSettings(document).filter((name) => !awaited(name))).toEqual([]);
  });
});

describe('the twins of these checks', () => {
  const path = 'docs/bank.md';
  const document = readDocument(path);

  it.each([
    ['a file that was renamed', 'architecture.md#every-repeat', 'building.md#every-repeat'],
    ['a heading that was renamed', 'architecture.md#every-repeat', 'architecture.md#all-repeats'],
  ])('a link to %s is found', (_name, from, to) => {
    expect(document).toContain(`](${from})`);
    expect(brokenLinks(path, document.replaceAll(from, to))).toEqual([to]);
  });

  it('a path in the code that was renamed is found', () => {
    expect(missingPaths(path, document.replaceAll('quote-numbers.ts', 'quote-digits.ts'))).toEqual([
      'src/bank/quote-digits.ts',
    ]);
  });

  it('a setting that was renamed is found', () => {
    const renamed = readDocument('docs/api.md').replaceAll('ALLOWED_HOSTS', 'ALLOWED_NAMES');
    expect(unknownSettings(renamed)).toEqual(['ALLOWED_NAMES']);
  });

  it('nothing is awaited that has come', () => {
    expect(AWAITED.paths.filter((name) => existsSync(join(ROOT, name)))).toEqual([]);
    expect(AWAITED.settings.filter((name) => KNOWN_NAMES.includes(name))).toEqual([]);
  });
});

describe('the rooms in docs/architecture.md', () => {
  const architecture = readDocument('docs/architecture.md');
  const entries = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter(({ name }) => !name.includes('.spec.'))
    .map((entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`);
  const leftOut = (document: string) => {
    const places = new Set(rowsUnder(document, 'place', 'what is there').flatMap(([place]) => coded(place)));
    return entries.filter((entry) => !places.has(entry));
  };

  it('leave out nothing that lies directly in src', () => {
    expect(leftOut(architecture)).toEqual([]);
  });

  it('its twin: a room without its row is found, though the text speaks of it', () => {
    expect(leftOut(withoutRow(architecture, '`src/egress/`'))).toEqual(['src/egress/']);
  });
});

describe('the README', () => {
  const readme = readDocument('README.md');
  const pages = documentPaths().filter((path) => /^docs\/[^/]+$/.test(path));
  const notListed = (document: string) => {
    const rows = new Set(rowsUnder(document, 'page', 'for').map(([page = '']) => /\]\(([^)]+)\)/.exec(page)?.[1]));
    return [...pages, 'CONTRIBUTING.md', 'CHANGELOG.md', '.github/SECURITY.md'].filter((page) => !rows.has(page));
  };

  it('has at most 200 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });

  it('lists every page of docs/', () => {
    expect(notListed(readme)).toEqual([]);
  });

  it('its twin: a page without its row is found, though the text links to it', () => {
    expect(notListed(withoutRow(readme, '[docs/sandbox.md](docs/sandbox.md)'))).toEqual(['docs/sandbox.md']);
  });
});
