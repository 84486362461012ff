import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';

/** More bytes than a pipe holds. */
const MUCH = 300_000;
type Child = ChildProcessByStdio<null, Readable, Readable>;

const children: Child[] = [];

/** A process that runs `steps` and then stays alive. */
function start(steps: string): Child {
  const url = new URL('standard-output.ts', import.meta.url);
  const script = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { countLostLines, openStandardOutput } from ${JSON.stringify(url)};
    const output = openStandardOutput();
    setInterval(() => {}, 1000);
    ${steps}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function textUntil({ stdout }: Child, end: string): Promise<string> {
  let text = '';
  stdout.setEncoding('utf8');
  for await (const piece of stdout) {
    text += String(piece);
    if (text.endsWith(end)) return text;
  }
  return text;
}

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});

describe('standard output', () => {
  it('keeps everything in order while nobody reads, and flushes it', async () => {
    const child = start(`
      output.write('é'.repeat(${MUCH}) + '\\n');
      output.write('last\\n');
      output.flush(() => process.stderr.write('flushed'));`);
    const flushed = once(child.stderr, 'data');
    // a pipe takes part of it, which may end in the middle of a character
    expect((await textUntil(child, 'last\n')) === `${'é'.repeat(MUCH)}\nlast\n`).toBe(true);
    expect(String((await flushed)[0])).toBe('flushed');
  });

  it('keeps at most 16 MB of lines for a reader, and counts the dropped ones', async () => {
    const child = start(`
      for (let line = 0; line < 20_000; line++) output.write('x'.repeat(999) + '\\n');
      process.stderr.write(String(countLostLines()));`);
    const [lost] = (await once(child.stderr, 'data')) as [Buffer];
    expect(Math.abs(Number(lost) - 4000)).toBeLessThan(100);
  });
});
