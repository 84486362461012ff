import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import * as remedies from './remedy.js';

const PAGE = readFileSync(new URL('../../docs/certificates.md', import.meta.url), 'utf8').replaceAll('\\|', '|');

it.each(Object.entries(remedies))('docs/certificates.md has the command of %s', (_name, remedy) => {
  const parts = remedy
    .replace(' -srcstoretype JCEKS', '')
    .split(/ && (?=openssl pkcs12 -export -inkey)| \(on Windows: /);
  for (const part of parts)
    expect(PAGE).toContain(part.replace(/\)$/, '').replace('pkcs7 -in client', 'pkcs7 -inform der -in client'));
});
