import { describe, expect, it } from '@jest/globals';
import { pathOf, startServer } from './tools.js';

describe('a tool', () => {
  it('cannot be used if the file has not checked for it, installed or not', () => {
    expect(() => pathOf('redis-server')).toThrow('This file starts redis-server without asking for it');
  });

  it('fails the test at once if it is not installed', async () => {
    await expect(startServer('/nowhere/redis-server', [], 1)).rejects.toThrow('ENOENT');
  });

  it('fails the test with its output if it ends instead of listening', async () => {
    const program = ['-e', 'console.error("no such option"); process.exit(1)'];
    await expect(startServer(process.execPath, program, 1)).rejects.toThrow('no such option');
  });
});
