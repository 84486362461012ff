import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { ROOT } from '../support/documents.js';

const { scripts, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('npm scripts', () => {
  it.each(['start', 'start:prod', 'test', 'sandbox', 'doctor', 'build', 'bench', 'start:dev'])(
    '%s also runs in cmd.exe: no shell syntax beyond &&',
    (name) => {
      const commands = (scripts[name] ?? '').split(' && ');
      expect(commands.filter((command) => !/^(node|npm run) [\w./ :=-]+$/.test(command))).toEqual([]);
    },
  );

  it('each begins with a check of the machine, or runs a script that does', () => {
    const first = /^node config\/build\/(check-machine|run|start)\.mjs|^\.ci\/|npm (run|test)/;
    expect(Object.entries(scripts).filter(([, script]) => !first.test(script))).toEqual([]);
  });
});

describe('on an unsuitable machine, one sentence names the command that fixes it', () => {
  const [all, none] = [Object.keys(devDependencies), [] as string[]];
  const rolldown = '@rolldown/binding-linux-x64-gnu';
  const complete = [...all, 'node', rolldown];

  /** Runs a script from config/build in a checkout with these packages. `prelude` runs first, in the same process. */
  function run(script: string, packages: readonly string[], prelude: string) {
    const directory = temporaryDirectory();
    cpSync(join(ROOT, 'config/build'), join(directory, 'config/build'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
    for (const name of packages) {
      mkdirSync(join(directory, 'node_modules', name), { recursive: true });
      writeFileSync(join(directory, 'node_modules', name, 'package.json'), '{}');
    }
    const args = [`--import=data:text/javascript,${encodeURIComponent(prelude)}`, ...script.split(' ')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
    return { status, stdout, lines: stderr.split('\n').filter(Boolean) };
  }
  const nodeIs = (version: string) => `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;

  it.each<[string, readonly string[], string, string]>([
    ['nothing is installed', none, '24.1.0', 'run "npm ci"'],
    ['--omit=dev', ['zod'], '24.1.0', 'run "npm ci --include=dev"'],
    ['npm ci under Node 18', all, '24.1.0', 'run "npx --yes --package node@24 -- npm ci --include=dev"'],
    ['--ignore-scripts under Node 20', [...all, 'node'], '20.1.0', 'run "npm rebuild node --ignore-scripts=false"'],
    ['Node 20, and nothing is installed', none, '20.1.0', 'run "npm ci"'],
  ])('%s', (_name, packages, node, remedy) => {
    const { status, stdout, lines } = run('config/build/check-machine.mjs', packages, nodeIs(node));
    expect([status, stdout]).toEqual([1, '']);
    expect(lines).toEqual([expect.stringContaining(remedy)]);
  });

  it('negative case: nothing is printed if everything is there', () => {
    const { status, stdout, lines } = run('config/build/check-machine.mjs --writes', complete, nodeIs('24.1.0'));
    expect({ status, stdout, lines }).toEqual({ status: 0, stdout: '', lines: [] });
  });

  it.each([
    ['config/build/check-machine.mjs --writes', 1],
    ['config/build/start.mjs serve --sandbox', 1],
    ['config/build/check-machine.mjs', 0],
  ])('a read-only checkout: %s ends with %i', (script, code) => {
    // root can write everywhere, so a file mode would have no effect
    const readOnly = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      fs.accessSync = () => { throw Object.assign(new Error(), { code: 'EROFS' }); }; syncBuiltinESMExports();`;
    const { status, lines } = run(script, complete, readOnly);
    expect(status).toBe(code);
    expect(lines).toEqual(code === 0 ? [] : [expect.stringMatching(/cannot be written \(EROFS\): run "cp -Rp \. /)]);
  });

  it('npm run start:prod without a build', () => {
    const { status, lines } = run('config/build/check-machine.mjs --built', none, nodeIs('24.1.0'));
    expect([status, lines]).toEqual([1, [expect.stringContaining('run "npm ci && npm run build"')]]);
  });
});
