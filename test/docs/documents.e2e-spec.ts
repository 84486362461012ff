import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { EXIT } from '../../src/cli/exit.js';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';
import { STEPS } from '../../src/operations/doctor/steps.js';
import { settingErrors } from '../deployment/setting-errors.js';
import {
  brokenReferences,
  commentsIn,
  documentPaths,
  itemsOf,
  read,
  readDocument,
  ROOT,
  rowsUnder,
  settingsIn,
  sourcePaths,
  under,
} from '../support/documents.js';

const { scripts, dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies',
  Record<string, string>
>;
const ofClient = JSON.parse(read('client/package.json')) as { readonly devDependencies: object };

const unknownSettings = (text: string) => settingsIn(text).filter((name) => !KNOWN_NAMES.includes(name));
const unknownCommands = (text: string) =>
  [...text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(start|test)\b)/g)]
    .map(([, script, short]) => script ?? short ?? '')
    .filter((script) => !(script in scripts));

/** Names in a document that do not exist. */
const mistakesIn = (path: string, text: string) => [
  ...brokenReferences(path, text),
  ...unknownSettings(text),
  ...unknownCommands(text),
];

describe('documents', () => {
  it.each(documentPaths().filter((path) => path !== 'CHANGELOG.md'))(
    'name only links, paths, settings and commands that exist: %s',
    (path) => {
      expect(mistakesIn(path, readDocument(path))).toEqual([]);
    },
  );

  it.each([
    ['a link', '[a](docs/none.md)', 'docs/none.md'],
    ['a heading', '[a](docs/errors.md#none)', 'docs/errors.md#none'],
    ['a path', '`src/none/`', 'src/none/'],
    ['the end of a path', '`cache/none.ts`', 'cache/none.ts'],
    ['a setting', 'ALLOWED_NONE', 'ALLOWED_NONE'],
    ['a command', 'npm run none', 'none'],
  ])('the negative case: finds %s that does not exist', (_what, text, mistake) => {
    expect(mistakesIn('README.md', text)).toContain(mistake);
  });

  it('and comments name only files and headings that exist', () => {
    const broken = sourcePaths().flatMap((path) =>
      brokenReferences(path, commentsIn(read(path))).map((reference) => `${path}: ${reference}`),
    );
    expect(broken).toEqual([]);
  });

  it('include a README of at most 150 lines, and an index that lists every page of the guide', () => {
    const readme = readDocument('README.md');
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
    const pages = documentPaths().filter((path) => /^docs\/[^/]+$/.test(path));
    const index = readDocument('docs/README.md');
    expect(pages.filter((page) => !`${index}(README.md)`.includes(`(${page.replace('docs/', '')})`))).toEqual([]);
  });

  it('give a reason for each package, and for no others', () => {
    const text = readDocument('docs/dependencies.md');
    const named = itemsOf(text)
      .filter(({ rest }) => /^: \S/.test(rest))
      .flatMap(({ names }) => names);
    expect(named.toSorted()).toEqual(
      Object.keys({ ...dependencies, ...devDependencies, ...ofClient.devDependencies }).toSorted(),
    );
  });

  it('list the exit codes of the program', () => {
    const ofServe = rowsUnder(readDocument('docs/deploy.md'), 'exit code of `serve`', 'meaning');
    expect(ofServe.map(([code]) => Number(code))).toEqual(Object.values(EXIT));
    const ofDoctor = under(readDocument('docs/troubleshooting.md'), 'Steps and exit codes').matchAll(
      /^(\d+)\. `(\w+)`/gm,
    );
    expect([...ofDoctor].map(([, code, step]) => `${code} ${step}`)).toEqual(
      STEPS.map((step, index) => `${index + 2} ${step}`),
    );
  });
});

it.each([
  ['config/bank.env.example', false],
  ['config/sandbox.env.example', true],
])('%s is accepted as settings once its files exist', (path, sandbox) => {
  expect(settingErrors(parseEnv(read(path)) as Record<string, string>, sandbox)).toEqual([]);
});

/** Every event that the sources log. */
function loggedEvents(): string[] {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'),
  );
  const events = sources.flatMap((path) =>
    [...read(join('src', path)).matchAll(/\bevent(?:: | = [^\n;']*)'([a-z.-]+)'(?: : '([a-z.-]+)')?/g)].flatMap(
      ([, ...events]) => events.filter((event) => event !== undefined),
    ),
  );
  return [...new Set(events)].toSorted();
}

describe('the events logged by the program', () => {
  it('are those in docs/logs.md, each listed once', () => {
    const documented = itemsOf(under(readDocument('docs/logs.md'), 'Events')).flatMap(({ names }) => names);
    expect(documented.toSorted()).toEqual(loggedEvents());
  });
});
