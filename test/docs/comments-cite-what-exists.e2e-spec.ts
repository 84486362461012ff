import { describe, expect, it } from '@jest/globals';
import { brokenCitations, citations, read, sourcePaths } from '../support/documents.js';

const paths = sourcePaths();
const citing = paths.filter((path) => citations(read(path)).length > 0);

describe('comments', () => {
  it.each(citing)('of %s cite documents and headings that exist', (path) => {
    expect(brokenCitations(read(path))).toEqual([]);
  });

  it('are found in the rooms that rest on a document', () => {
    expect(citing).toEqual(
      expect.arrayContaining([
        'src/auth/access-token-provider.ts',
        'src/bank/read-page.ts',
        'src/snapshot/select.ts',
        'test/support/pretend-bank.ts',
      ]),
    );
  });
});

describe('the twins of this check', () => {
  const source = read('src/bank/read-page.ts');

  it.each([
    ['a document that was renamed', 'docs/bank.md#', 'docs/the-bank.md#'],
    ['a heading that was renamed', '#envelope-and-paging', '#the-list'],
  ])('%s is found', (_name, from, to) => {
    expect(source).toContain(from);
    expect(brokenCitations(source.replace(from, to))).toEqual([expect.stringContaining(to)]);
  });

  const gone = 'docs/none.md';
  it.each([
    ['in a block', `/** As ${gone} says. */`],
    ['in a line within a block', `/**\n * As ${gone} says.\n */`],
    ['on a line of its own', `  // as ${gone} says`],
    ['at the end of a line', `const wait = 5; // ${gone}`],
  ])('a comment %s is read', (_name, text) => {
    expect(brokenCitations(text)).toEqual([gone]);
  });
});
