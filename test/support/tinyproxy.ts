import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { startTool } from './tools.js';

/**
 * The real tinyproxy on a free port of 127.0.0.1. It requires Basic authentication, and allows CONNECT only to `ports`.
 */
export async function startTinyproxy(user: string, password: string, ports: readonly number[]): Promise<URL> {
  const port = await closedPort();
  const file = join(temporaryDirectory(), 'tinyproxy.conf');
  const allowed = ports.map((each) => `ConnectPort ${each}`);
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 60', `BasicAuth ${user} ${password}`, ...allowed];
  writeFileSync(file, `${lines.join('\n')}\n`);
  await startTool('tinyproxy', ['-d', '-c', file], port);
  return new URL(`http://127.0.0.1:${port}`);
}
