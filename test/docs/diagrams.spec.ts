import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { documentPaths, readDocument, ROOT } from '../support/documents.js';

const DOCS = join(ROOT, 'docs');

/** The folders, and the classes as folder/Class, that a diagram names and that do not exist. */
function missingIn(svg: string): string[] {
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
  return texts.flatMap((text) => {
    const [, folder, name = ''] = /^([a-z]+)\/([A-Z]\w+)?(?= |$)/.exec(text) ?? [];
    if (folder === undefined) return [];
    const file = name.replace(/(?<!^)[A-Z]/g, '-$&').toLowerCase();
    const path = join(ROOT, 'src', folder, name && `${file}.ts`);
    if (!existsSync(path)) return [text];
    return name === '' || new RegExp(`export (?:abstract )?class ${name}\\b`).test(readFileSync(path, 'utf8'))
      ? []
      : [text];
  });
}

const diagrams = readdirSync(DOCS).filter((name) => name.endsWith('.svg'));

it.each(diagrams)('%s names classes and folders that exist, and a document shows it', (name) => {
  expect(missingIn(readFileSync(join(DOCS, name), 'utf8'))).toEqual([]);
  expect(documentPaths().filter((path) => readDocument(path).includes(`](${name})`))).not.toEqual([]);
});

it('the negative case: reports a class or folder that does not exist', () => {
  const svg = (text: string) => `<svg><text x="1">${text}</text></svg>`;
  expect(missingIn(svg('accounts/Responded'))).toEqual(['accounts/Responded']);
  expect(missingIn(svg('account/'))).toEqual(['account/']);
  expect(missingIn(svg('accounts/Responder'))).toEqual([]);
});
