import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { ROOT } from '../support/documents.js';
import { until } from '../support/until.js';

const { scripts, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('npm scripts', () => {
  it.each(['start', 'test', 'sandbox', 'doctor', 'build', 'start:dev', 'start:debug'])(
    '%s runs in cmd.exe too: no shell syntax beyond &&',
    (name) => {
      const commands = (scripts[name] ?? '').split(' && ');
      expect(commands.filter((command) => !/^node [\w./ :=-]+$/.test(command))).toEqual([]);
    },
  );

  it('each begins with check-machine, or runs a script that does', () => {
    const first = /^node config\/build\/(check-machine|check-node|run|start)\.mjs|^\.ci\/|npm (run|test)/;
    expect(Object.entries(scripts).filter(([, script]) => !first.test(script))).toEqual([]);
  });
});

describe('npm start', () => {
  it('stops cleanly and leaves no gateway behind when npm gets SIGTERM', async () => {
    const env = { ...process.env, PORT: '0', SANDBOX_DIRECTORY: temporaryDirectory() };
    const npm = spawn('npm', ['start', '--silent'], { cwd: ROOT, env, detached: true });
    onClose(() => {
      try {
        process.kill(-(npm.pid ?? 0), 'SIGKILL');
      } catch {
        // the gateway has ended
      }
    });
    let output = '';
    npm.stdout.on('data', (chunk) => (output += String(chunk)));
    const closed = new Promise((resolve) => npm.once('close', resolve));
    await until(() => output.includes('"gateway.started"'));
    npm.kill('SIGTERM');
    // once its output is closed
    await closed;
    expect(output).toContain('"gateway.stopped"');
  });
});

describe('on an unsuitable machine, one sentence names the command that repairs it', () => {
  const [all, none] = [Object.keys(devDependencies), [] as string[]];
  const rolldown = '@rolldown/binding-linux-x64-gnu';
  it.each<[string, readonly string[], string, string | null]>([
    ['nothing is installed', none, '24.1.0', 'run "npm ci"'],
    ['--omit=dev', ['zod'], '24.1.0', 'run "npm ci --include=dev"'],
    ['npm ci under Node 18', all, '24.1.0', 'run "npx --yes --package node@24 -- npm ci --include=dev"'],
    ['--ignore-scripts under Node 20', [...all, 'node'], '20.1.0', 'run "npm rebuild node --ignore-scripts=false"'],
    ['Node 20, and nothing is installed', none, '20.1.0', 'run "npm ci"'],
    ['all is there', [...all, 'node', rolldown], '24.1.0', null],
  ])('%s', (_name, packages, node, remedy) => {
    const directory = temporaryDirectory();
    cpSync(join(ROOT, 'config/build'), join(directory, 'config/build'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
    for (const name of packages) {
      mkdirSync(join(directory, 'node_modules', name), { recursive: true });
      writeFileSync(join(directory, 'node_modules', name, 'package.json'), '{}');
    }
    const older = `Object.defineProperty(process, 'versions', { value: { node: '${node}' } })`;
    const args = [`--import=data:text/javascript,${encodeURIComponent(older)}`, 'config/build/check-machine.mjs'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
    if (remedy === null) {
      expect([status, stdout, stderr]).toEqual([0, '', '']);
      return;
    }
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(remedy)]);
  });
});
