import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { ROOT } from '../support/documents.js';

interface Verdict {
  readonly success: boolean;
  readonly testResults: readonly { readonly message: string }[];
}

const { default: config } = (await import(join(ROOT, 'jest.config.js'))) as { default: object };

/** What Jest, set up as for our tests, reports and prints about a file with this text. Another good one is beside it. */
async function runJest(text: string): Promise<{ success: boolean; output: string }> {
  const directory = temporaryDirectory();
  const verdict = join(directory, 'verdict.json');
  writeFileSync(join(directory, 'a.spec.mjs'), text);
  writeFileSync(join(directory, 'another.spec.mjs'), `it('another', () => {});`);
  const settings = Object.assign(JSON.parse(JSON.stringify(config).replaceAll('<rootDir>', ROOT)) as object, {
    rootDir: directory,
    roots: [directory],
    testRegex: String.raw`\.spec\.mjs$`,
    globalSetup: undefined,
    transform: {},
  });
  const jest = ['--experimental-vm-modules', join(ROOT, 'node_modules/jest/bin/jest.js')];
  const args = ['--config', JSON.stringify(settings), '--maxWorkers=2', '--json', '--outputFile', verdict];
  const env = { ...process.env, TEST_FILE_LIMIT_MS: '4000' };
  const { promise, resolve } = Promise.withResolvers<{ success: boolean; output: string }>();
  execFile(process.execPath, [...jest, ...args], { cwd: ROOT, env }, (error, _stdout, stderr) => {
    const { success, testResults } = existsSync(verdict)
      ? (JSON.parse(readFileSync(verdict, 'utf8')) as Verdict)
      : { success: false, testResults: [] };
    const messages = testResults.map((each) => each.message).join('\n');
    resolve({ success: success && error === null, output: messages + stderr });
  });
  return promise;
}

it.each([
  ['an expectation is not met', `it('a', () => expect(1).toBe(2));`, /a\n.*toBe/s],
  ['it never ends', `it('never', () => new Promise(() => {}), 100);`, /never\n.*Exceeded timeout of 100 ms/s],
  [
    'a hook never ends',
    `beforeEach(() => new Promise(() => {}), 100); it('a', () => {});`,
    /Exceeded timeout of 100 ms for a hook/,
  ],
  ['nobody handles a rejection', `it('a', async () => { Promise.reject(new Error('alone')); });`, /alone/],
  ['it ends the process', `it('a', () => process.exit(0));`, /process\.exit called/],
  ['what it imports is missing', `import './nothing.js'; it('a', () => {});`, /Could not locate module/],
  ['its file never finishes loading', `await new Promise(() => {}); it('a', () => {});`, /not done within 4000 ms/],
])('a test fails when %s', async (_why, text, message) => {
  const { success, output } = await runJest(text);
  expect(output).toMatch(message);
  expect(success).toBe(false);
});

it('a run ends when something is still open', async () => {
  const { output } = await runJest(`setInterval(() => {}, 1000); it('a', () => {});`);
  expect(output).toMatch(/failed to exit gracefully|still open/);
});

it('the counterpart: a test that does what it should passes', async () => {
  expect(await runJest(`it('a', () => expect(1).toBe(1));`)).toMatchObject({ success: true });
});
