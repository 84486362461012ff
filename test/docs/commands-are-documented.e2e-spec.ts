import { describe, expect, it } from '@jest/globals';
import { EXIT } from '../../src/cli/exit.js';
import { STEPS } from '../../src/doctor/report.js';
import { coded, documentPaths, read, readDocument, rowsUnder, withoutRow } from '../support/documents.js';

const manifest = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies',
  Record<string, string>
>;
const scripts = Object.keys(manifest.scripts).toSorted();

/** Names of the npm scripts in a text. */
const scriptsIn = (text: string): string[] =>
  [...text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(start|test)\b)/g)].map(
    ([, script, short]) => script ?? short ?? '',
  );

describe('the commands in CONTRIBUTING.md', () => {
  const document = readDocument('CONTRIBUTING.md');
  const told = (text: string) =>
    rowsUnder(text, 'command', 'what it does').flatMap(([command = '']) => scriptsIn(command));

  it('are the scripts of package.json, each once', () => {
    expect(told(document).toSorted()).toEqual(scripts);
  });

  it('its twin: a script without its row is found, though the text names it', () => {
    const without = withoutRow(document, '`npm run check`');
    expect(scriptsIn(without)).toContain('check');
    expect(told(without)).not.toContain('check');
  });

  it.each(documentPaths())('and those in %s exist', (path) => {
    expect(scriptsIn(readDocument(path)).filter((script) => !scripts.includes(script))).toEqual([]);
  });
});

describe('the packages in docs/dependencies.md', () => {
  const document = readDocument('docs/dependencies.md');
  const table = (text: string, header: string) =>
    Object.fromEntries(rowsUnder(text, 'package', header).map(([name, reason]) => [coded(name).join(), reason]));
  const [runTime, development] = ['what for, and why this one', 'what for'];

  it.each([
    ['dependencies', runTime],
    ['devDependencies', development],
  ] as const)('are the %s of package.json, each with a reason', (kind, header) => {
    const reasons = table(document, header);
    expect(Object.keys(reasons).toSorted()).toEqual(Object.keys(manifest[kind]).toSorted());
    expect(Object.entries(reasons).filter(([, reason]) => !reason)).toEqual([]);
  });

  it('its twin: a package without its row is found, though another row names it', () => {
    const without = withoutRow(document, '`nestjs-pino`');
    expect(without).toContain('`nestjs-pino`');
    expect(Object.keys(table(without, runTime))).not.toContain('nestjs-pino');
  });
});

describe('the exit codes', () => {
  const ofServe = (text: string) => rowsUnder(text, 'exit code of `serve`', 'meaning').map(([code]) => Number(code));
  const ofDoctor = (text: string) =>
    rowsUnder(text, 'exit code', 'step').map(([code, step]) => `${code} ${coded(step).join()}`);
  const steps = STEPS.map((step, index) => `${index + 2} ${step}`);

  it('of serve are those of the program', () => {
    expect(ofServe(readDocument('docs/operations.md'))).toEqual(Object.values(EXIT));
  });

  it('of the doctor are its steps in their order', () => {
    expect(ofDoctor(readDocument('docs/troubleshooting.md'))).toEqual(steps);
  });

  it('their twins: a code or a step without its row is found', () => {
    expect(ofServe(withoutRow(readDocument('docs/operations.md'), '3'))).not.toEqual(Object.values(EXIT));
    expect(ofDoctor(withoutRow(readDocument('docs/troubleshooting.md'), '6'))).not.toEqual(steps);
  });
});

describe('the programs that tests look for', () => {
  const tools = read('test/support/tools.ts');
  const wanted = [...tools.matchAll(/hasTool\([^;]*?, '([\w-]+)'\)(?=;| && has)/g)].map(([, name]) => name);
  const installed = (script: string) => [...script.matchAll(/missing\+=\(([\w-]+)\)/g)].map(([, name]) => name);

  it('are installed in CI, where a missing one is a failure', () => {
    expect(wanted).toHaveLength([...tools.matchAll(/^export const has\w+ = /gm)].length);
    expect(installed(read('.ci/run')).toSorted()).toEqual([...new Set(wanted)].toSorted());
    expect(read('.ci/run')).toMatch(/^export CI=true$/m);
  });

  it('their twin: one that is not installed is found', () => {
    expect(installed(read('.ci/run').replace(/^.*missing\+=\(chromium\)\n/m, ''))).not.toContain('chromium');
  });
});
