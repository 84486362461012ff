import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { closeAll, temporaryDirectory } from '../support/closing.js';
import { ROOT } from '../support/documents.js';

afterAll(closeAll);

interface Verdict {
  readonly numPassedTests: number;
  readonly success: boolean;
  readonly testResults: readonly { readonly message: string }[];
}

const { default: config } = (await import(join(ROOT, 'jest.config.js'))) as {
  default: { runner: unknown; setupFilesAfterEnv: string[] };
};

/** What Jest, set up as for our tests, says of a file with this text. */
async function verdictOn(text: string): Promise<Verdict> {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'a.spec.mjs'), text);
  const verdict = join(directory, 'verdict.json');
  const setup = {
    runner: config.runner,
    setupFilesAfterEnv: config.setupFilesAfterEnv.map((path) => path.replace('<rootDir>', ROOT)),
    rootDir: directory,
    testRegex: String.raw`\.spec\.mjs$`,
  };
  const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), '--config', JSON.stringify(setup), '--maxWorkers=2'];
  const loaded = ['--import', join(ROOT, 'test/support/load-typescript.js')];
  await new Promise((resolve) => {
    execFile(process.execPath, [...loaded, ...jest, '--json', '--outputFile', verdict], { cwd: ROOT }, resolve);
  });
  return JSON.parse(readFileSync(verdict, 'utf8')) as Verdict;
}

it.each([
  ['an expectation is not met', `it('a', () => expect(1).toBe(2));`, /a\n.*toBe/s],
  ['it has no end', `it('never done', () => new Promise(() => {}), 100);`, /never done\n.*not done within 100 ms/s],
  [
    'a hook has no end',
    `beforeEach(() => new Promise(() => {}), 100); it('a', () => {});`,
    /\(beforeEach\)\n.*not done within 100 ms/s,
  ],
  ['nobody handles a rejection', `it('a', async () => { Promise.reject(new Error()); });`, /exited unexpectedly/],
  ['it ends the process', `it('a', () => process.exit(0));`, /exited unexpectedly/],
  ['what it imports is not there', `import './nothing.js'; it('a', () => {});`, /Cannot find module/],
])('a test fails when %s', async (_why, text, message) => {
  const { success, testResults } = await verdictOn(text);
  expect(success).toBe(false);
  expect(testResults.map((each) => each.message).join('\n')).toMatch(message);
});

it('its twin: one that does what it should passes', async () => {
  expect(await verdictOn(`it('a', () => expect(1).toBe(1));`)).toMatchObject({ success: true, numPassedTests: 1 });
});
