import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerIdentity } from './authority.js';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { startTool, type RunningTool } from './tools.js';

/** Arguments that make the server require a client certificate from this PEM file's CAs, and send real alerts. */
export const insistingOn = (caFile: string) => ['-CAfile', caFile, '-Verify', '3', '-verify_return_error'];

/** The real `openssl s_server` on a free port of 127.0.0.1; with `-www` it returns its own page for every request. */
export async function startOpensslServer(
  { key, cert }: ServerIdentity,
  args: readonly string[] = ['-www'],
): Promise<RunningTool & { readonly port: number }> {
  const directory = temporaryDirectory();
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const port = await closedPort();
  const own = ['-accept', `127.0.0.1:${port}`, '-key', write('key.pem', key), '-cert', write('cert.pem', cert)];
  return { ...(await startTool('openssl', ['s_server', ...own, ...args], port)), port };
}
