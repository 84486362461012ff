import { beforeEach, describe, expect, it } from '@jest/globals';
import { VERSION } from '../config/build-output.js';
import { runCommandLine } from './command-line.js';

let shown = '';
const run = (args: readonly string[]) =>
  runCommandLine({
    argv: ['node', 'main.js', ...args],
    stderr: { write: (text: string) => (shown += text) },
    stdout: { write: (text: string) => (shown += text), on: () => undefined },
  } as unknown as NodeJS.Process);

beforeEach(() => {
  shown = '';
});

describe('a wrong command line', () => {
  it.each([
    [['doctor', '--ofline'], "Unknown option '--ofline'"],
    [['serve', '--port', '3000'], "Unknown option '--port'"],
    [['--renew'], 'serve has no option --renew'],
    [['doctor', '--fresh'], 'doctor has no option --fresh'],
    [['sandbox', '--offline'], 'sandbox has no option --offline'],
    [['probe', '--json'], 'probe has no option --json'],
    [['sandbox', '--new-ca'], '--new-ca needs --renew'],
    [['probe', '--wait', 'long'], '--wait needs whole seconds, such as 60'],
    [['doctor', '--record', ''], '--record needs a value'],
    [['start'], 'Unknown command "start"'],
    [['doctor', 'all'], 'Unknown command "doctor all"'],
  ])('%j prints the reason in one line, then where to look in two, and exits with code 2', async (args, problem) => {
    expect(await run(args)).toBe(2);
    const [reason, blank, ...hint] = shown.trimEnd().split('\n');
    expect([reason, blank, hint.length]).toEqual([`accounts-gateway: ${problem}`, '', 2]);
    expect(shown).toContain('node dist/main.js --help');
  });

  it('the negative case: --help and --version are printed', async () => {
    expect(await run(['--help'])).toBe(0);
    expect(await run(['--version'])).toBe(0);
    expect(shown).toMatch(new RegExp(`exit code.*\\n${VERSION}\\n$`, 'is'));
  });
});
