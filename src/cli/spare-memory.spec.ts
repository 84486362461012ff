import { execFileSync } from 'node:child_process';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../test/support/until.js';
import { spareMemory } from './spare-memory.js';

const MB = 1024 * 1024;

describe('the memory after a burst', () => {
  it('is reduced while V8 holds more than 80 MB of unused heap; each change is made once', async () => {
    let checks = 0;
    const unused = [80, 81, 200, 80, 10, 81].map((mb) => mb * MB);
    const flags: string[] = [];
    const heap = () => {
      const bytes = unused[Math.min(checks, unused.length - 1)] as number;
      checks += 1;
      return { ...getHeapStatistics(), total_heap_size: 30 * MB + bytes, used_heap_size: 30 * MB };
    };
    spareMemory(heap, (flag) => flags.push(flag), 1);
    await until(() => checks > unused.length);
    expect(flags).toEqual(['--optimize-for-size', '--no-optimize-for-size', '--optimize-for-size']);
  });

  it('is reduced with a flag that V8 supports', () => {
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    expect(options).toContain('--optimize-for-size ');
    expect(options).not.toContain('--optimize-for-nothing ');
  });
});
