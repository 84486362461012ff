import { describe, expect, it } from '@jest/globals';
import { pathOf, startServer } from './tools.js';

describe('a tool', () => {
  it('that the file has not asked for is refused with a sentence, installed or not', () => {
    expect(() => pathOf('redis-server')).toThrow('This file starts redis-server without asking for it');
  });

  it('that is not there fails at once, and the test ends', async () => {
    await expect(startServer('/nowhere/redis-server', [], 1)).rejects.toThrow('ENOENT');
  });

  it('that ends instead of listening fails with what it wrote', async () => {
    const program = ['-e', 'console.error("no such option"); process.exit(1)'];
    await expect(startServer(process.execPath, program, 1)).rejects.toThrow('no such option');
  });
});
