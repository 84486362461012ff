import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { documentPaths, readDocument } from '../support/documents.js';
import { hasJq, pathOf } from '../support/tools.js';

/** Every program in a shell block of README and docs, and what checks its lines. */
const CHECKED: Readonly<Record<string, string>> = {
  npm: 'documents.e2e-spec.ts: each script exists. test/process and test/client run them',
  curl: 'served-documents.e2e-spec.ts: each address exists',
  jq: 'below',
  journalctl: 'not run: needs systemd. Below, a file takes its place',
  openssl: 'not run: it asks for passcodes',
  node: 'not run: needs the paths of an installation. test/process starts the same program',
  runuser: 'not run: needs root and the user of the unit',
  systemctl: 'not run: needs systemd',
  install: 'not run: needs root',
  chown: 'not run: needs root',
  chmod: 'not run: needs root',
  docker: 'not run: needs an engine. .ci/image and .ci/compose run image and compose file',
  kubectl: 'not run: needs a cluster. test/deployment reads the manifests',
  mkdir: 'needs no check',
  rm: 'needs no check',
};

/** The lines of the shell blocks of a document, with continued ones joined. */
const shellLinesOf = (document: string): string[] =>
  [...document.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
    .flatMap(([, block = '']) => block.replace(/\\\n/g, ' ').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** The programs that a line starts. A line that only sets variables starts none. */
const programsOf = (line: string): string[] =>
  line
    .replace(/'[^']*'|"[^"]*"/g, '…')
    .split(/&&|\|/)
    .flatMap((command) => /^\s*(?:[A-Z_]+=\S*\s+)*(?:\/\S*\/)?([a-z]+)\b/.exec(command)?.[1] ?? []);

const documents = documentPaths().filter((path) => !path.startsWith('test/') && path !== 'CHANGELOG.md');

describe('the shell blocks of the documents', () => {
  it('start only programs whose lines are checked', () => {
    const programs = documents.flatMap((path) => shellLinesOf(readDocument(path))).flatMap(programsOf);
    expect([...new Set(programs)].toSorted()).toEqual(Object.keys(CHECKED).toSorted());
  });

  it.each([
    ['A=1 B=2 /usr/bin/node main.js && npm test | jq .', ['node', 'npm', 'jq']],
    ["jq 'a | b && c'", ['jq']],
    ['REDIS_URL_FILE=/run/secrets/redis-url', []],
  ])('the programs of %s are found', (line, programs) => {
    expect(programsOf(line)).toEqual(programs);
  });
});

(hasJq() ? describe : describe.skip)('the lines with jq in docs/logs.md', () => {
  const WANTED = [
    { level: 'info', requestId: '29da4ff4-3b8a-4f58-9f0a-9d24d74c755a' },
    { level: 'error', requestId: 'another' },
  ];
  const LOG = [
    'Started accounts-gateway.service.',
    JSON.stringify({ level: 'info', requestId: 'third' }),
    ...WANTED.map((line) => JSON.stringify(line)),
  ];
  const lines = shellLinesOf(readDocument('docs/logs.md')).filter((line) => line.includes('| jq '));

  it('find a call, and the errors, in a log with a line of systemd', () => {
    const file = join(temporaryDirectory(), 'log');
    writeFileSync(file, `${LOG.join('\n')}\n`);
    const found = lines.map((line) => {
      const [, options = '', filter = ''] = /\| jq (-\w+) '([^']*)'$/.exec(line) ?? [];
      return JSON.parse(execFileSync(pathOf('jq'), [options, filter, file], { encoding: 'utf8' })) as unknown;
    });
    expect(found).toEqual(WANTED);
  });
});
