import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCommandLine } from './command-line.js';

let told = '';
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommandLine({
    argv: ['node', 'main.js', ...args],
    env,
    stderr: { write: (text: string) => (told += text) },
    stdout: { write: (text: string) => (told += text), on: () => undefined },
  } as unknown as NodeJS.Process);

beforeEach(() => {
  told = '';
});

describe('a command line that is wrong', () => {
  it.each([
    [['doctor', '--ofline'], "Unknown option '--ofline'"],
    [['serve', '--port', '3000'], "Unknown option '--port'"],
    [['start'], 'there is no command "start"'],
    [['doctor', 'all'], 'too many arguments: all'],
    [['serve', '--json'], 'serve has no option --json'],
  ])('%j: what is wrong in one line, then the usage, and exit code 2', async (args, problem) => {
    expect(await run(args)).toBe(2);
    expect(told.split('\n').slice(0, 2)).toEqual([`accounts-gateway: ${problem}`, '']);
    expect(told).toContain('node dist/main.js doctor');
  });

  it('npm run doctor --offline, which npm keeps for itself, is answered with how to make no connection', async () => {
    await run(['doctor'], { npm_config_offline: 'true' });
    expect(told).toContain('npm run doctor -- --offline');
    told = '';
    await run(['doctor', '--offline'], { npm_config_offline: 'true' });
    expect(told).not.toContain('npm took');
  });

  it('its twins: --help and --version are answered', async () => {
    expect(await run(['--help'])).toBe(0);
    expect(await run(['--version'])).toBe(0);
    expect(told).toMatch(/exit code.*\n[\d.]+\n$/is);
  });
});
