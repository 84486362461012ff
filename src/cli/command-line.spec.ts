import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCommandLine } from './command-line.js';

let shown = '';
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommandLine({
    argv: ['node', 'main.js', ...args],
    env,
    stderr: { write: (text: string) => (shown += text) },
    stdout: { write: (text: string) => (shown += text), on: () => undefined },
  } as unknown as NodeJS.Process);

beforeEach(() => {
  shown = '';
});

describe('a command line that is wrong', () => {
  it.each([
    [['doctor', '--ofline'], "Unknown option '--ofline'"],
    [['serve', '--port', '3000'], "Unknown option '--port'"],
    [['start'], 'unknown command "start"'],
    [['doctor', 'all'], 'too many arguments: all'],
    [['serve', '--json'], 'serve does not take --json'],
  ])('%j: what is wrong in one line, then the usage, and exit code 2', async (args, problem) => {
    expect(await run(args)).toBe(2);
    expect(shown.split('\n').slice(0, 2)).toEqual([`accounts-gateway: ${problem}`, '']);
    expect(shown).toContain('node dist/main.js doctor');
  });

  it('npm run doctor --offline, which npm keeps for itself, is answered with how to make no connection', async () => {
    await run(['doctor'], { npm_config_offline: 'true' });
    expect(shown).toContain('npm run doctor -- --offline');
    shown = '';
    await run(['doctor', '--offline'], { npm_config_offline: 'true' });
    expect(shown).not.toContain('npm kept');
  });

  it('the counterpart: --help and --version are answered', async () => {
    expect(await run(['--help'])).toBe(0);
    expect(await run(['--version'])).toBe(0);
    expect(shown).toMatch(/exit code.*\n[\d.]+\n$/is);
  });
});
