import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { commentsIn, documentPaths, read, readDocument, ROOT, sourcePaths } from '../support/documents.js';

/** Phrases with a better alternative; cspell (config/cspell.json) has the single words. */
const PHRASES: readonly (readonly [phrase: RegExp, better: string])[] = [
  [/\b(?:those|ones) who\b/i, 'operators, callers, clients'],
  [
    /\bof (?:its|their|our) own(?=$|[^\w\s]| (?:and|or|that|which|with|without|here|there|now|beyond|for)\b)/im,
    'separate, its own',
  ],
  [/\b(?:is|are|be) of use\b/i, 'reachable, useful'],
  [/\bno more\b(?! than| often)/i, 'no longer'],
  [/\bstands? (?:in|beside|for)\b/i, 'is in, means'],
  [/\bby Redis\b/i, 'through Redis'],
  [/\bsuch as have\b/i, 'clients that have'],
  [/\bmust be a text\b/i, 'must be a string'],
];

const badPhrasesIn = (text: string): string[] =>
  PHRASES.filter(([phrase]) => phrase.test(text)).map(
    ([phrase, better]) => `${phrase.exec(text)?.[0].trim()} -> ${better}`,
  );

/** The test titles in a file. */
const titlesIn = (source: string): string =>
  [...source.matchAll(/\b(?:it|test|describe)(?:\.each\([\s\S]*?\))?\(\s*(['"`])(.*?)\1,/g)]
    .map(([, , title]) => title)
    .join('\n');

/** The text of comments that begin with #. */
const hashCommentsIn = (source: string): string => (source.match(/(?<=^|\s)# .*$/gm) ?? []).join('\n');

/** Files for operators and CI, by their path. */
const configurationPaths = ['config', '.ci', '.github']
  .flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => posix.relative(ROOT, posix.join(entry.parentPath, entry.name))),
  )
  .filter((path) => !/\.(?:json|md|ts|mjs)$/.test(path))
  .concat('docker-compose.yml', 'Dockerfile');

const found = (paths: readonly string[], toText: (path: string) => string) =>
  paths.flatMap((path) => badPhrasesIn(toText(path)).map((phrase) => `${path}: ${phrase}`));

describe('phrases with a better alternative', () => {
  it('are in no document', () => {
    expect(found(documentPaths(), readDocument)).toEqual([]);
  });

  it('are in no comment or test title', () => {
    expect(found(sourcePaths(), (path) => commentsIn(read(path)))).toEqual([]);
    expect(found(sourcePaths(), (path) => titlesIn(read(path)))).toEqual([]);
  });

  it('are in no comment of YAML, shell scripts and other configuration', () => {
    expect(configurationPaths).toContain('config/nginx/accounts-gateway.conf');
    expect(found(configurationPaths, (path) => hashCommentsIn(read(path)))).toEqual([]);
  });

  it.each([
    ['a cookie is of use', 'is of use'],
    ['a process of its own', 'of its own'],
    ['those who run it', 'those who'],
  ])('the negative case: are found in "%s"', (text, phrase) => {
    expect(badPhrasesIn(text)).toEqual([expect.stringContaining(phrase)]);
    expect(titlesIn(`it('${text}', () => {});`)).toBe(text);
    expect(hashCommentsIn(`a: b # ${text}`)).toBe(`# ${text}`);
  });
});
