import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { ROOT } from '../support/documents.js';
import { until } from '../support/until.js';

/** Each build writes a program with the next number, which runs until it receives a signal. */
const BUILD = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const count = existsSync('builds') ? Number(readFileSync('builds', 'utf8')) + 1 : 1;
writeFileSync('builds', String(count));
mkdirSync('dist', { recursive: true });
writeFileSync('dist/main.js', \`
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
    console.log('program ${'${count}'} stopped by ' + signal);
    process.exit(0);
  });
  console.log('program ${'${count}'} runs');
  setInterval(() => undefined, 1000);
\`);
`;
const SOURCES = 'src/main.ts docs/api.md client/testing/index.ts client/README.md package.json package-lock.json'.split(
  ' ',
);

/** A checkout with a few empty sources and this checkout's scripts; its build and its program are replaced. */
function createCheckout(): string {
  const directory = temporaryDirectory();
  cpSync(join(ROOT, 'config/build'), join(directory, 'config/build'), { recursive: true });
  for (const file of [...SOURCES, 'client/package.json', 'client/src/index.ts', 'CHANGELOG.md']) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
  writeFileSync(join(directory, 'config/build/build.ts'), BUILD);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module', scripts, devDependencies: {} }));
  mkdirSync(join(directory, 'node_modules/@rolldown/binding-any'), { recursive: true });
  return directory;
}

/** npm in a checkout. `closed` is fulfilled when npm and everything that it started have ended. */
function startNpm(directory: string, ...args: string[]) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const npm = spawn('npm', ['run', '--silent', ...args], {
    cwd: directory,
    env: { ...process.env, PATH },
    detached: true,
  });
  const killAll = (signal: NodeJS.Signals) => process.kill(-(npm.pid ?? 0), signal);
  onClose(() => {
    try {
      killAll('SIGKILL');
    } catch {
      // it has ended
    }
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = new Promise((resolve) => npm.once('close', resolve));
  return { output: () => output, closed, kill: (signal: NodeJS.Signals) => npm.kill(signal), killAll };
}

describe('npm start', () => {
  it('reports that it builds, and only when it does', async () => {
    const directory = createCheckout();
    const first = startNpm(directory, 'start');
    await until(() => first.output().includes('program 1 runs'));
    expect(first.output()).toMatch(/^Building dist\/.*\nprogram 1 runs\n$/);
    first.kill('SIGTERM');
    await first.closed;
    const second = startNpm(directory, 'start');
    await until(() => second.output().includes('runs'));
    expect(second.output()).toBe('program 1 runs\n');
    second.kill('SIGTERM');
    await second.closed;
  });
});

describe('npm run start:dev', () => {
  it('rebuilds and restarts after a change of any source', async () => {
    const directory = createCheckout();
    const { output } = startNpm(directory, 'start:dev');
    await until(() => output().includes('program 1 runs'));
    for (const [index, source] of SOURCES.entries()) {
      appendFileSync(join(directory, source), '\n');
      await until(() => output().includes(`program ${index + 2} runs`));
      expect(output()).toContain(`program ${index + 1} stopped by SIGTERM\nprogram ${index + 2} runs`);
    }
  });
});

describe.each(['start', 'start:dev', 'start:dev -- --debug', 'start:prod'])('npm run %s', (script) => {
  /** A checkout with a built program, as start:prod requires. */
  function createBuilt(): string {
    const directory = createCheckout();
    execFileSync(process.execPath, ['config/build/build.ts'], { cwd: directory });
    return directory;
  }

  it('ends with ^C, which the terminal sends to all of its processes', async () => {
    const { output, closed, killAll } = startNpm(createBuilt(), ...script.split(' '));
    await until(() => output().includes('runs'));
    killAll('SIGINT');
    await closed;
    expect(output()).toMatch(/program \d stopped by SIGINT/);
  });

  it('leaves nothing behind when its npm gets SIGTERM', async () => {
    const { output, closed, kill } = startNpm(createBuilt(), ...script.split(' '));
    await until(() => output().includes('runs'));
    kill('SIGTERM');
    // once no process holds its output open
    await closed;
    expect(output()).toMatch(/program \d stopped by SIG(INT|TERM)/);
  });
});
